"""Whether a breakpoint can be hit, and why not: what the client shows beside it."""

from __future__ import annotations

import types
from collections.abc import Callable

from dynascope.agent.breakpoints import Breakpoint
from dynascope.agent.code_lines import lines_with_code
from dynascope.agent.user_code import real_path
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import FunctionBreakpoint, Source, SourceBreakpoint
from dynascope.wire.messages import SetBreakpoints, SetFunctionBreakpoints


class Verification:
    def __init__(self, runs_are_debugged: bool, changed: Callable[[BreakpointState], None]) -> None:
        """`runs_are_debugged`: a line that Dynamo does not trace still stops when it runs, because debugpy is there."""
        self._runs_are_debugged = runs_are_debugged
        self._changed = changed

    def resolve_lines(self, message: SetBreakpoints) -> tuple[str, list[BreakpointState], list[Breakpoint]]:
        """The file's real path, the answer to each breakpoint in order, and those that are at work."""
        path = real_path(message.path)
        states, made = [], []
        for asked in message.breakpoints:
            state, breakpoint = self._resolve_line(path, asked)
            states.append(state)
            if breakpoint is not None:
                made.append(breakpoint)
        return path, states, made

    def _resolve_line(self, path: str, asked: SourceBreakpoint) -> tuple[BreakpointState, Breakpoint | None]:
        code_lines = lines_with_code(path)
        if code_lines is None:
            line: int | None = asked.line
        else:
            line = code_lines.line_for(asked.line)
        state = BreakpointState(
            id=asked.id, verified=line is not None, line=line or asked.line, source=Source(path=path)
        )
        if line is None:
            state.message = "There is no code on this line or below it."
            state.reason = "failed"
            return state, None
        if line != asked.line:
            state.message = f"Line {asked.line} has no code; moved to line {line}."
        try:
            return state, Breakpoint(asked, line)
        except ValueError as error:
            state.verified, state.message, state.reason = False, str(error), "failed"
            return state, None

    def resolve_functions(
        self, message: SetFunctionBreakpoints
    ) -> tuple[list[BreakpointState], list[tuple[str, Breakpoint]]]:
        states, made = [], []
        for asked in message.breakpoints:
            state = BreakpointState(id=asked.id, verified=True)
            try:
                made.append((asked.name, Breakpoint(asked, None)))
            except ValueError as error:
                state.verified, state.message, state.reason = False, str(error), "failed"
            states.append(state)
        return states, made

    def compiled(self, code: types.CodeType, skip_reason: str | None, compiled: bool) -> None:
        """Dynamo compiled this code, or skipped it for that reason; on the compiling thread."""
