"""Where a breakpoint on a line goes, and its state for the client, for every kind."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass

from dynascope.agent.program.functions import FunctionKey, key_of
from dynascope.agent.program.source_lines import is_function, lines_with_code
from dynascope.wire.dap import Breakpoint, Source

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
