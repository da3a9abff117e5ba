"""Breakpoints with mode `run`: debugpy stops in their functions, which stay uncompiled.

Code that inlined such a function, or broke its graph because of it, is recompiled when a breakpoint comes or goes.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from dynascope.agent.breakpoints.kind import LineKind, PlacedBreakpoint, Placement, placed
from dynascope.agent.breakpoints.outlook import why_never_run
from dynascope.agent.breakpoints.traced_functions import CompiledRoots
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey, key_of
from dynascope.agent.suspension.interface import Suspension
from dynascope.explain.breakpoints import ALWAYS_RUNS, RUNS_UNCOMPILED
from dynascope.wire.dap import Breakpoint, SourceBreakpoint

if TYPE_CHECKING:
    from dynascope.agent.speculation.uncompiled import Uncompiled
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome

_NEEDS_DEBUGPY = "Mode `run` stops in the running program, and this session is without debugpy (`runtime` is false)."


class RunBreakpoints(LineKind):
    """Set on the channel's thread; `compile_ended` is called on compiling threads."""

    mode = "run"

    def __init__(self, suspension: Suspension, roots: CompiledRoots) -> None:
        self._suspension = suspension
        self._compiled = roots
        self._rows: dict[str, Sequence[PlacedBreakpoint]] = {}
        self._left: frozenset[FunctionKey] = frozenset()
        """The functions that are left uncompiled."""
        self._first_lines: frozenset[int] = frozenset()
        self._due: dict[int, types.CodeType] = {}
        """Code to be recompiled, by its identity, once it is not being compiled."""
        self._hook: Hook | None = None
        self._in_force: Uncompiled | None = None

    def attach(self, hook: Hook) -> None:
        self._hook = hook
        self._leave_uncompiled()

    def detach(self) -> None:
        self._rows = {}
        self._leave_uncompiled()
        self._hook = None

    def refusal(self, asked: SourceBreakpoint, where: Placement) -> str | None:
        return None if self._suspension.kind == "pydevd" else _NEEDS_DEBUGPY

    def state(self, asked: SourceBreakpoint, where: Placement) -> Breakpoint:
        key = where.function
        return placed(asked.id, ALWAYS_RUNS if key is None else RUNS_UNCOMPILED.format(name=key.name), where)

    def use(self, path: str, rows: Sequence[PlacedBreakpoint]) -> None:
        before = self._rows.pop(path, None)
        if rows:
            self._rows[path] = rows
        if rows or before:
            self._leave_uncompiled()

    def compile_ended(self, outcome: CompileOutcome) -> None:
        if self._due and outcome.traced:
            self._compile_again((), outcome.traced[0])

    def never_hit(self) -> Iterable[Breakpoint]:
        for path, rows in self._rows.items():
            for row in rows:
                if row.breakpoint.log_message is not None:
                    continue  # debugpy writes it and does not report the hit
                runs = self._suspension.times_reached(path, row.where.line or 0)
                why = why_never_run(path, "This line", row.breakpoint, runs)
                yield msgspec.structs.replace(row.state, message=why)

    def _leave_uncompiled(self) -> None:
        functions = {row.where.function for rows in self._rows.values() for row in rows}
        before, self._left = self._left, frozenset(key for key in functions if key is not None)
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
            from dynascope.agent.speculation.uncompiled import Uncompiled

            self._in_force = Uncompiled(hook.compile_hooks, self._is_left, hook.threads.traced_now)
        self._compile_again([*due, *(code for key in self._left - before for code in self._compiled.of(key))])

    def _is_left(self, code: types.CodeType | None) -> bool:
        if code is None:
            return False
        original = resume.original_code(code)
        return original.co_firstlineno in self._first_lines and key_of(original) in self._left

    def _compile_again(self, more: Iterable[types.CodeType], current: types.CodeType | None = None) -> None:
        """Make Dynamo forget the code compiled of these and of those due, unless being compiled.

        `current` is the code whose compile is ending.
        """
        from dynascope.agent.speculation.uncompiled import forget_compiled

        self._due |= {id(code): code for code in more}
        compiling = self._hook.threads.codes_being_compiled() if self._hook is not None else []
        busy = {id(code) for code in (*compiling, current)}
        for key in [key for key in self._due if key not in busy]:
            forget_compiled(self._due.pop(key))
