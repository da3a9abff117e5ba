"""The interface of every kind of breakpoint: where one on a line goes, and its state for the client."""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dynascope.agent.breakpoints import hits
from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.program.functions import FunctionKey, key_of
from dynascope.agent.program.source_lines import is_function, lines_with_code
from dynascope.wire.dap import Breakpoint, Source, SourceBreakpoint

if TYPE_CHECKING:
    from dynascope.agent.inspection.disassembly import Listing
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome

NO_FILE = "no such file: {path}"
NO_CODE = "There is no code on this line or below it."


@dataclass(frozen=True)
class Placement:
    """Where a breakpoint requested on a line stops."""

    path: str
    asked: int
    line: int | None
    """None if there is no code on the line or below it."""
    codes: Sequence[types.CodeType]
    """The code objects that have the line, outermost first; empty when the file cannot be read."""

    @property
    def functions(self) -> list[types.CodeType]:
        """Return the functions and lambdas that have the line, outermost first."""
        return [code for code in self.codes if is_function(code)]

    @property
    def function(self) -> FunctionKey | None:
        """Return the outermost function; None at module level and for a file that cannot be read."""
        functions = self.functions
        return key_of(functions[0], self.path) if functions else None


def place(path: str, line: int) -> Placement:
    """Return where a breakpoint on `line` of a real path stops: there or at the next code."""
    lines = lines_with_code(path)
    if lines is None:
        return Placement(path, line, line, ())
    actual = lines.line_for(line)
    return Placement(path, line, actual, () if actual is None else lines.code_at[actual])


def refused(breakpoint_id: int, why: str, where: Placement | None = None) -> Breakpoint:
    """Return the state of a breakpoint that can never stop; `why` is a message for the user."""
    state = Breakpoint(id=breakpoint_id, verified=False, message=why, reason="failed")
    if where is not None:
        state.line, state.source = where.line or where.asked, Source(path=where.path)
    return state


def placed(breakpoint_id: int, message: str, where: Placement, *, verified: bool = True) -> Breakpoint:
    """Return the state of a breakpoint on a line; its message says if the line was moved."""
    if where.line != where.asked:
        message = f"Line {where.asked} has no code: moved to line {where.line}. {message}"
    source = Source(path=where.path)
    return Breakpoint(id=breakpoint_id, verified=verified, line=where.line, message=message, source=source)


@dataclass
class PlacedBreakpoint:
    """A breakpoint on a line, not refused, and the state that the client has of it."""

    where: Placement
    breakpoint: AgentBreakpoint
    state: Breakpoint


@dataclass
class AddressedBreakpoint:
    """A breakpoint at instruction `index` of a listing, or of the number of untraced code."""

    breakpoint: AgentBreakpoint
    code: Listing | int
    index: int


Named = tuple[str, AgentBreakpoint]
"""The name, or pattern, of a function breakpoint, and the breakpoint."""


class BreakpointKind:
    """Interface of one kind of breakpoint. Every method does nothing by default."""

    def attach(self, hook: Hook) -> None:
        """Install listeners in torch._dynamo, now imported. Only this method may import torch."""

    def detach(self) -> None:
        """Remove every listener, so that nothing stops any more. Any thread."""

    def compile_ended(self, outcome: CompileOutcome) -> None:
        """Handle the end of an outermost compile. Called on its thread."""

    def never_hit(self) -> Iterable[Breakpoint]:
        """Return states with reasons of breakpoints that never stopped, before the program exits."""
        return ()


class LineKind(BreakpointKind):
    """A kind of breakpoint on lines of a file, selected by DAP's breakpoint mode."""

    mode: ClassVar[str]

    def placed(self, path: str, asked: Sequence[SourceBreakpoint]) -> tuple[list[Breakpoint], list[PlacedBreakpoint]]:
        """Return the state of each breakpoint of a file (a real path), and those to `use`."""
        states, rows = [], []
        for request in asked:
            where = place(path, request.line)
            try:
                if where.line is None:
                    raise ValueError(NO_CODE)
                if (why := self.refusal(request, where)) is not None:
                    raise ValueError(why)
                rows.append(PlacedBreakpoint(where, hits.at_work(request, where.line), self.state(request, where)))
                states.append(rows[-1].state)
            except ValueError as error:
                states.append(refused(request.id, str(error), where))
        return states, rows

    def refusal(self, asked: SourceBreakpoint, where: Placement) -> str | None:
        """Return a message for the user why this kind cannot stop there; None when it can."""
        return None

    def state(self, asked: SourceBreakpoint, where: Placement) -> Breakpoint:
        """Return the state that the client gets of a breakpoint that was not refused."""
        raise NotImplementedError

    def use(self, path: str, rows: Sequence[PlacedBreakpoint]) -> None:
        """Make these the breakpoints of this kind in that file."""
        raise NotImplementedError


class NamedKind(BreakpointKind):
    """A kind that function breakpoints may also name: graph nodes, parts of a backward."""

    def owns(self, name: str) -> bool:
        """Whether a function breakpoint of this name cannot mean any other kind."""
        return False

    def message_about(self, name: str) -> str | None:
        """Return where a breakpoint of this name stops; None if it cannot be of this kind."""
        return None

    def set_names(self, named: Sequence[Named]) -> None:
        """Replace the breakpoints by these, some of which may be of another kind."""
