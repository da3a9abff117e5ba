"""Breakpoints at which debugpy stops: mode `run` in functions that stay uncompiled, `generated` in compiled code.

Code that inlined a function with mode `run`, or broke its graph because of it, is recompiled when a breakpoint comes or
goes.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from dynascope.agent.breakpoints.kind import LineKind, PlacedBreakpoint, Placement, placed
from dynascope.agent.breakpoints.outlook import why_never_run
from dynascope.agent.breakpoints.traced_functions import CompiledRoots, functions_of
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey, key_of
from dynascope.agent.suspension.interface import EntryBreakpoint, Suspension
from dynascope.explain import breakpoints as says
from dynascope.explain.breakpoints import ALWAYS_RUNS, RUNS_UNCOMPILED
from dynascope.wire.breakpoint_texts import counted
from dynascope.wire.dap import Breakpoint, SourceBreakpoint

if TYPE_CHECKING:
    from dynascope.agent.speculation.uncompiled import Uncompiled
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome

_NEEDS_DEBUGPY = "Mode `run` stops in the running program, and this session is without debugpy (`runtime` is false)."


class _DebugpyKind(LineKind):
    """Set on the channel's thread; `compile_ended` is called on compiling threads, before the code runs."""

    def __init__(self, suspension: Suspension, roots: CompiledRoots) -> None:
        self._suspension = suspension
        self._compiled = roots
        self._rows: dict[str, Sequence[PlacedBreakpoint]] = {}

    def use(self, path: str, rows: Sequence[PlacedBreakpoint]) -> None:
        before = self._rows.pop(path, None)
        if rows:
            self._rows[path] = rows
        if rows or before:
            self._put_to_work()

    def _put_to_work(self) -> object:
        """Have debugpy stop at the breakpoints that there are now."""
        raise NotImplementedError


class RunBreakpoints(_DebugpyKind):
    """Breakpoints in functions that are left uncompiled."""

    mode = "run"

    def __init__(self, suspension: Suspension, roots: CompiledRoots) -> None:
        super().__init__(suspension, roots)
        self._left: frozenset[FunctionKey] = frozenset()
        """The functions that are left uncompiled."""
        self._first_lines: frozenset[int] = frozenset()
        self._due: dict[int, types.CodeType] = {}
        """Code to be recompiled, by its identity, once it is not being compiled."""
        self._hook: Hook | None = None
        self._in_force: Uncompiled | None = None

    def attach(self, hook: Hook) -> None:
        self._hook = hook
        self._put_to_work()

    def detach(self) -> None:
        self._rows = {}
        self._put_to_work()
        self._hook = None

    def refusal(self, asked: SourceBreakpoint, where: Placement) -> str | None:
        return None if self._suspension.kind == "pydevd" else _NEEDS_DEBUGPY

    def state(self, asked: SourceBreakpoint, where: Placement) -> Breakpoint:
        key = where.function
        return placed(asked.id, ALWAYS_RUNS if key is None else RUNS_UNCOMPILED.format(name=key.name), where)

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

    def _put_to_work(self) -> None:
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


_NOT_MY_CODE = 'debugpy does not stop in the files of libraries: set "justMyCode": false.'
_AT_IMPORT = "Dynamo generates no code for a module's own lines."
_ENTRY_NEEDS_DEBUGPY = "Mode `generated` stops in debugpy, and this session is without it (`runtime` is false)."
_NO_LOGPOINT = "A logpoint cannot have mode `generated`: the names of its line are gone in generated code."


class GeneratedBreakpoints(_DebugpyKind):
    """Breakpoints at the entry to the compiled code of their function.

    That is code of the function itself, of frames that inlined it, and of the resume functions after graph breaks.
    debugpy stops in it as in any Python code: its line table begins with the first line of the function.
    """

    mode = "generated"

    def __init__(self, suspension: Suspension, roots: CompiledRoots, changed: Callable[[Breakpoint], None]) -> None:
        super().__init__(suspension, roots)
        self._changed = changed

    def detach(self) -> None:
        if self._rows:
            self._rows = {}
            self._put_to_work()

    def refusal(self, asked: SourceBreakpoint, where: Placement) -> str | None:
        if self._suspension.kind != "pydevd":
            return _ENTRY_NEEDS_DEBUGPY
        if asked.log_message:
            return _NO_LOGPOINT
        return _AT_IMPORT if where.function is None else None

    def state(self, asked: SourceBreakpoint, where: Placement) -> Breakpoint:
        assert where.function is not None  # else it is refused
        return placed(asked.id, self._message(where.function), where)

    def compile_ended(self, outcome: CompileOutcome) -> None:
        if not self._rows:
            return
        keys = functions_of(outcome.traced)
        waiting = [row for rows in self._rows.values() for row in rows if row.where.function in keys]
        if not waiting:
            return
        refused = self._put_to_work()
        for row in waiting:
            is_refused = row.state.id in refused
            assert row.where.function is not None
            message = _NOT_MY_CODE if is_refused else self._message(row.where.function)
            now = placed(row.state.id, message, row.where, verified=not is_refused)
            if now != row.state:
                row.state = now
                self._changed(now)

    def never_hit(self) -> Iterable[Breakpoint]:
        for path, rows in self._rows.items():
            for row in rows:
                key = row.where.function
                names = [] if key is None else self._names(key)
                why = why_never_run(path, f"The code that Dynamo generated for {', '.join(names)}", row.breakpoint)
                if not names and key is not None:
                    why = says.NO_CODE_GENERATED.format(name=key.name)
                yield msgspec.structs.replace(row.state, message=why)

    def _names(self, key: FunctionKey) -> list[str]:
        return sorted({resume.original_code(code).co_qualname for code in self._compiled.of(key)})

    def _message(self, key: FunctionKey) -> str:
        names = self._names(key)
        if not names:
            return says.AT_ENTRY.format(it=says.NO_CODE_YET, names=key.name, part="")
        part = "" if names == [key.name] else f" {key.name} was compiled into it."
        return says.AT_ENTRY.format(it="It", names=", ".join(names), part=part)

    def _put_to_work(self) -> set[int]:
        """Make debugpy stop at each breakpoint; return the ids of the breakpoints that it refuses."""
        return self._suspension.stop_at_entries(
            [
                EntryBreakpoint(
                    row.breakpoint.id,
                    code.co_filename,
                    code.co_firstlineno,
                    counted(row.breakpoint.id, row.breakpoint.condition, row.breakpoint.asked.hit_condition),
                )
                for rows in list(self._rows.values())
                for row in rows
                if row.where.function is not None
                for code in self._compiled.of(row.where.function)
            ]
        )
