"""Breakpoints with mode `run`: their functions are left uncompiled, so that they run, and debugpy stops in them.

What has inlined such a function, or broken its graph for its sake, is compiled again when the breakpoint comes or goes.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from dynascope.agent.breakpoints import hit_counts
from dynascope.agent.breakpoints.compiled_roots import CompiledRoots
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey, key_of
from dynascope.agent.program.source_lines import function_code_at, lines_with_code
from dynascope.agent.program.user_code import real_path
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import Source, SourceBreakpoint
from dynascope.wire.to_agent import SetBreakpoints

if TYPE_CHECKING:
    from dynascope.agent.internals.compile.uncompiled import Uncompiled
    from dynascope.agent.tracing.hook import Hook

MODE = "run"
_AT_IMPORT = "Module-level code always runs uncompiled: it stops each time it runs."
_NEEDS_DEBUGPY = "Mode `run` stops in the running program, and this session is without debugpy (`runtime` is false)."
_NO_CODE = "There is no code on this line or below it."


class RunBreakpoints:
    """`take` is called on the channel's thread, `compiled` on compiling threads."""

    def __init__(self, runs_are_debugged: bool, roots: CompiledRoots) -> None:
        self._runs_are_debugged = runs_are_debugged
        self._compiled = roots
        self._by_file: dict[str, frozenset[FunctionKey]] = {}
        self._left: frozenset[FunctionKey] = frozenset()
        self._first_lines: frozenset[int] = frozenset()
        self._due: dict[int, types.CodeType] = {}
        self._hook: Hook | None = None
        self._in_force: Uncompiled | None = None

    def begin(self, hook: Hook) -> None:
        """torch._dynamo is imported."""
        self._hook = hook
        self._use(self._by_file)

    def end(self) -> None:
        """Everything is compiled again."""
        self._use({})
        self._hook = None

    def take(self, message: SetBreakpoints) -> tuple[SetBreakpoints, list[BreakpointState | None]]:
        """Take the breakpoints with mode `run` out of a request.

        Returns the request without them, and for each breakpoint of the whole its answer, None if it was not ours.
        """
        path = real_path(message.path)
        answers: list[BreakpointState | None] = []
        left: set[FunctionKey] = set()
        for asked in message.breakpoints:
            answers.append(self._answer(path, asked, left) if asked.mode == MODE else None)
        self._use({**self._by_file, path: frozenset(left)})
        others = [asked for asked in message.breakpoints if asked.mode != MODE]
        return msgspec.structs.replace(message, breakpoints=others), answers

    def compiled(self, traced: list[types.CodeType]) -> None:
        """Dynamo has compiled the first of these, into which it inlined the others."""
        if self._due:
            self._forget((), traced[0])

    def _answer(self, path: str, asked: SourceBreakpoint, left: set[FunctionKey]) -> BreakpointState:
        state = BreakpointState(id=asked.id, verified=False, line=asked.line, source=Source(path=path), reason="failed")
        lines = lines_with_code(path)
        line = asked.line if lines is None else lines.line_for(asked.line)
        try:
            hit_counts.at_work(asked, line)
        except ValueError as error:
            state.message = str(error)
            return state
        if line is None or not self._runs_are_debugged:
            state.message = _NO_CODE if line is None else _NEEDS_DEBUGPY
            return state
        state.verified, state.line, state.reason = True, line, None
        code = function_code_at(path, line)
        if code is None:
            state.message = _AT_IMPORT
            return state
        left.add(key_of(code, path))
        state.message = (
            f"{code.co_qualname} is left uncompiled, and stops here each time it runs. "
            "What would inline it breaks its graph at the call, or runs uncompiled too: with fullgraph=True, "
            "and where it is called in the body of torch.cond, torch.func.grad or the like."
        )
        return state

    def _use(self, by_file: dict[str, frozenset[FunctionKey]]) -> None:
        self._by_file = {path: keys for path, keys in by_file.items() if keys}
        before, self._left = self._left, frozenset().union(*self._by_file.values())
        self._first_lines = frozenset(key.first_line for key in self._left)
        hook, in_force = self._hook, self._in_force
        if hook is None or (before == self._left and (in_force is not None or not self._left)):
            return
        due: list[types.CodeType] = []
        if in_force is not None:
            in_force.remove()
            due += in_force.broken.values()
            self._in_force = None
        if self._left:
            from dynascope.agent.internals.compile.uncompiled import Uncompiled

            self._in_force = Uncompiled(hook.compile_hooks, self._is_left, hook.threads.traced_now)
        self._forget([*due, *(code for key in self._left - before for code in self._compiled.of(key))])

    def _is_left(self, code: types.CodeType | None) -> bool:
        if code is None:
            return False
        original = resume.original_code(code)
        return original.co_firstlineno in self._first_lines and key_of(original) in self._left

    def _forget(self, more: Iterable[types.CodeType], current: types.CodeType | None = None) -> None:
        """Have these compiled again, and those before whose time had not come: not while they are being compiled.

        `current` is the code whose compile ends just now.
        """
        from dynascope.agent.internals.compile.uncompiled import forget_compiled

        self._due |= {id(code): code for code in more}
        compiling = self._hook.threads.codes_being_compiled() if self._hook is not None else []
        busy = {id(code) for code in (*compiling, current)}
        for key in [key for key in self._due if key not in busy]:
            forget_compiled(self._due.pop(key))
