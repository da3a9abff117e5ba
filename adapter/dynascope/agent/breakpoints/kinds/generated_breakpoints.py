"""Breakpoints with mode `generated`: they stop where code that Dynamo generated for their function is entered.

That code is the function's own, or of whatever inlined it, and of the resume functions behind graph breaks. It runs as
any Python does, so debugpy stops in it: its line table begins with the first line of what it was compiled for.
"""

from __future__ import annotations

import types
from collections.abc import Callable

import msgspec

from dynascope.agent.breakpoints import hit_counts
from dynascope.agent.breakpoints.compiled_roots import CompiledRoots
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey, key_of
from dynascope.agent.program.source_lines import function_code_at, lines_with_code
from dynascope.agent.program.user_code import real_path
from dynascope.agent.suspension.interface import EntryBreakpoint, Suspension
from dynascope.wire.counting import counted
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import Source, SourceBreakpoint
from dynascope.wire.to_agent import SetBreakpoints

MODE = "generated"
_AT_ENTRY = "it stops where code that Dynamo generated for {} is entered, and at its graph breaks."
_NOT_MY_CODE = 'debugpy does not stop in the files of libraries: set "justMyCode": false.'
_AT_IMPORT = "Dynamo generates no code for a module's own lines."
_NEEDS_DEBUGPY = "Generated code is stopped in by debugpy, and this session is without it (`runtime` is false)."
_NO_CODE = "There is no code on this line or below it."
_NO_LOGPOINT = "A logpoint cannot have mode `generated`: the names of its line are gone in generated code."


class GeneratedBreakpoints:
    """`take` is called on the channel's thread, `compiled` on compiling threads, before what they made runs."""

    def __init__(
        self, suspension: Suspension, roots: CompiledRoots, changed: Callable[[BreakpointState], None]
    ) -> None:
        self._suspension = suspension
        self._roots = roots
        self._changed = changed
        self._by_file: dict[str, list[tuple[FunctionKey, SourceBreakpoint, BreakpointState]]] = {}

    def end(self) -> None:
        """Debugpy shall stop at none of them any more."""
        if self._by_file:
            self._by_file = {}
            self._place()

    def take(self, message: SetBreakpoints) -> tuple[SetBreakpoints, list[BreakpointState | None]]:
        """Take the breakpoints with mode `generated` out of a request.

        Returns the request without them, and for each breakpoint of the whole its answer, None if it was not ours.
        """
        path = real_path(message.path)
        answers: list[BreakpointState | None] = []
        made: list[tuple[FunctionKey, SourceBreakpoint, BreakpointState]] = []
        for asked in message.breakpoints:
            answers.append(self._answer(path, asked, made) if asked.mode == MODE else None)
        before = self._by_file.pop(path, None)
        if made:
            self._by_file[path] = made
        if made or before:
            self._place()
        others = [asked for asked in message.breakpoints if asked.mode != MODE]
        return msgspec.structs.replace(message, breakpoints=others), answers

    def compiled(self, traced: list[types.CodeType]) -> None:
        """`roots` knows of another compile now."""
        if not self._by_file:
            return
        keys = {key_of(resume.original_code(code)) for code in traced}
        waiting = [row for rows in self._by_file.values() for row in rows if row[0] in keys]
        if not waiting:
            return
        refused = self._place()
        for key, _, state in waiting:
            message = _NOT_MY_CODE if state.id in refused else self._message(key)
            if message != state.message:
                state.verified, state.message = state.id not in refused, message
                self._changed(state)

    def _answer(
        self, path: str, asked: SourceBreakpoint, made: list[tuple[FunctionKey, SourceBreakpoint, BreakpointState]]
    ) -> BreakpointState:
        state = BreakpointState(id=asked.id, verified=False, line=asked.line, source=Source(path=path), reason="failed")
        lines = lines_with_code(path)
        line = asked.line if lines is None else lines.line_for(asked.line)
        code = None if line is None else function_code_at(path, line)
        if self._suspension.kind != "pydevd":
            state.message = _NEEDS_DEBUGPY
        elif asked.log_message:
            state.message = _NO_LOGPOINT
        elif line is None or code is None:
            state.message = _NO_CODE if line is None else _AT_IMPORT
        else:
            try:
                hit_counts.at_work(asked, None)
            except ValueError as error:
                state.message = str(error)
                return state
            key = key_of(code, path)
            state.verified, state.line, state.reason, state.message = True, line, None, self._message(key)
            made.append((key, asked, state))
        return state

    def _message(self, key: FunctionKey) -> str:
        names = sorted({resume.original_code(code).co_qualname for code in self._roots.of(key)})
        if not names:
            return f"Not compiled yet: {_AT_ENTRY.format(key.name)}"
        part = "" if names == [key.name] else f" {key.name} was compiled into it."
        return f"It {_AT_ENTRY.format(', '.join(names))[3:]}{part}"

    def _place(self) -> set[int]:
        """Ask debugpy to stop at all of them; the ids of those that it refuses."""
        rows = [row for rows in list(self._by_file.values()) for row in rows]
        return self._suspension.stop_at_entries(
            [
                EntryBreakpoint(
                    asked.id,
                    code.co_filename,
                    code.co_firstlineno,
                    counted(asked.id, asked.condition, asked.hit_condition),
                )
                for key, asked, _ in rows
                for code in self._roots.of(key)
            ]
        )
