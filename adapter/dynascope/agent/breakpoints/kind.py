"""The interface of every kind of breakpoint. A new kind overrides what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dynascope.agent.breakpoints import hits, placement
from dynascope.agent.breakpoints.breakpoint import AgentBreakpoint
from dynascope.agent.breakpoints.placement import Placement
from dynascope.wire.dap import Breakpoint, SourceBreakpoint

if TYPE_CHECKING:
    from dynascope.agent.inspection.disassembly import Listing
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome


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
            where = placement.place(path, request.line)
            try:
                if where.line is None:
                    raise ValueError(placement.NO_CODE)
                if (why := self.refusal(request, where)) is not None:
                    raise ValueError(why)
                rows.append(PlacedBreakpoint(where, hits.at_work(request, where.line), self.state(request, where)))
                states.append(rows[-1].state)
            except ValueError as error:
                states.append(placement.refused(request.id, str(error), where))
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
