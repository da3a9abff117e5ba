"""Breakpoints with mode `generated`: they stop at entry to their function's compiled code.

That is code of the function itself, of frames that inlined it, and of the resume functions after graph breaks. debugpy
stops in it as in any Python code: its line table begins with the first line of the function it was compiled for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from dynascope.agent.breakpoints import placement
from dynascope.agent.breakpoints.kind import LineKind, PlacedBreakpoint
from dynascope.agent.breakpoints.outlook import why_never_run
from dynascope.agent.breakpoints.placement import Placement
from dynascope.agent.breakpoints.traced_functions import CompiledRoots, functions_of
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey
from dynascope.agent.suspension.interface import EntryBreakpoint, Suspension
from dynascope.explain import breakpoints as says
from dynascope.wire.breakpoint_texts import counted
from dynascope.wire.dap import Breakpoint, SourceBreakpoint

if TYPE_CHECKING:
    from dynascope.agent.tracing.stop_check import CompileOutcome

_NOT_MY_CODE = 'debugpy does not stop in the files of libraries: set "justMyCode": false.'
_AT_IMPORT = "Dynamo generates no code for a module's own lines."
_NEEDS_DEBUGPY = "Mode `generated` stops in debugpy, and this session is without it (`runtime` is false)."
_NO_LOGPOINT = "A logpoint cannot have mode `generated`: the names of its line are gone in generated code."


class GeneratedBreakpoints(LineKind):
    """Set on the channel's thread; `compile_ended` on compiling threads, before the code runs."""

    mode = "generated"

    def __init__(self, suspension: Suspension, roots: CompiledRoots, changed: Callable[[Breakpoint], None]) -> None:
        self._suspension = suspension
        self._roots = roots
        self._changed = changed
        self._rows: dict[str, Sequence[PlacedBreakpoint]] = {}

    def detach(self) -> None:
        if self._rows:
            self._rows = {}
            self._place()

    def refusal(self, asked: SourceBreakpoint, where: Placement) -> str | None:
        if self._suspension.kind != "pydevd":
            return _NEEDS_DEBUGPY
        if asked.log_message:
            return _NO_LOGPOINT
        return _AT_IMPORT if where.function is None else None

    def state(self, asked: SourceBreakpoint, where: Placement) -> Breakpoint:
        assert where.function is not None  # else it is refused
        return placement.placed(asked.id, self._message(where.function), where)

    def use(self, path: str, rows: Sequence[PlacedBreakpoint]) -> None:
        before = self._rows.pop(path, None)
        if rows:
            self._rows[path] = rows
        if rows or before:
            self._place()

    def compile_ended(self, outcome: CompileOutcome) -> None:
        if not self._rows:
            return
        keys = functions_of(outcome.traced)
        waiting = [row for rows in self._rows.values() for row in rows if row.where.function in keys]
        if not waiting:
            return
        refused = self._place()
        for row in waiting:
            is_refused = row.state.id in refused
            assert row.where.function is not None
            message = _NOT_MY_CODE if is_refused else self._message(row.where.function)
            now = placement.placed(row.state.id, message, row.where, verified=not is_refused)
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
        return sorted({resume.original_code(code).co_qualname for code in self._roots.of(key)})

    def _message(self, key: FunctionKey) -> str:
        names = self._names(key)
        if not names:
            return says.AT_ENTRY.format(it=says.NO_CODE_YET, names=key.name, part="")
        part = "" if names == [key.name] else f" {key.name} was compiled into it."
        return says.AT_ENTRY.format(it="It", names=", ".join(names), part=part)

    def _place(self) -> set[int]:
        """Make debugpy stop at all of them; return the ids of those that it refuses."""
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
                for code in self._roots.of(row.where.function)
            ]
        )
