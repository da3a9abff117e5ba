"""Breakpoints on a line: they stop where Dynamo traces it, and where it runs uncompiled.

Their messages come from what Dynamo traced and skipped, functions of the program's modules under
`torch.compiler.disable`, and Dynamo's rules for files. The heap is not searched, no attribute is read that runs code.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from dynascope.agent.breakpoints import hits
from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.breakpoints.kind import NO_FILE, LineKind, PlacedBreakpoint, Placement, placed
from dynascope.agent.breakpoints.outlook import expectation, why_never_reached, why_not_stopped
from dynascope.agent.breakpoints.traced_functions import TracedFunctions, functions_of
from dynascope.agent.internals.frames.resume import is_resume_function
from dynascope.agent.program.functions import FunctionKey
from dynascope.agent.program.source_lines import is_there
from dynascope.agent.suspension.interface import Suspension
from dynascope.explain.breakpoints import Expectation, Outlook
from dynascope.wire.beyond_dap import HAS_STOPPED
from dynascope.wire.dap import Breakpoint, SourceBreakpoint
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.kinds.trace_stops import LineStops
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome

LineTable = dict[str, dict[int, list[AgentBreakpoint]]]
"""Real path → line → breakpoints."""


class LineBreakpoints(LineKind):
    """Set on the channel's thread, updated on compiling threads; `changed` is called on either."""

    mode = "trace"

    def __init__(
        self,
        suspension: Suspension,
        traced: TracedFunctions,
        send: Callable[[Message], None],
        changed: Callable[[Breakpoint], None],
    ) -> None:
        self._suspension = suspension
        self._runs_are_debugged = suspension.kind == "pydevd"
        self._traced = traced
        self._send = send
        self._changed = changed
        self.compiler_is_debugged = False
        """Whether debugpy traces Dynamo itself while it compiles (the setting `debugDynamo`)."""
        self._lock = threading.Lock()
        self._rows: dict[str, list[PlacedBreakpoint]] = {}
        self._set_during_compile: set[int] = set()
        """Ids of breakpoints that Dynamo may already have passed when they were set."""
        self._stopped_at: set[int] = set()
        self._passed_by: set[tuple[FunctionKey, int]] = set()
        self._modules_seen = 0
        self._hook: Hook | None = None
        self._stops: LineStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.kinds.trace_stops import LineStops

        self._hook = hook
        self._stops = LineStops(hook, self._send, self.note_stop)
        self._stops.use(self._by_line())
        self._refresh(list(self._rows))  # now Dynamo can say what names mean

    def detach(self) -> None:
        self._hook = self._stops = None

    # ---- what the client sets

    def state(self, asked: SourceBreakpoint, where: Placement) -> Breakpoint:
        if asked.id not in self._stopped_at and not is_there(where.path):
            return placed(asked.id, NO_FILE.format(path=where.path), where, verified=False)
        expected = self._expectation(where)
        message = expected.message("logs" if asked.log_message else "stops")
        if expected.outlook is Outlook.NOT_YET and asked.id in self._stopped_at:
            message = HAS_STOPPED
        message = hits.with_what_counts(message, asked, self._runs_are_debugged) or ""
        return placed(asked.id, message, where, verified=expected.can_stop)

    def _expectation(self, where: Placement) -> Expectation:
        modes = self._runs_are_debugged, self.compiler_is_debugged
        return expectation(where, self._traced, self._passed_by, *modes)

    def use(self, path: str, rows: Sequence[PlacedBreakpoint]) -> None:
        compiles = self._hook is not None and bool(self._hook.threads.compiling())
        with self._lock:
            self._rows[path] = list(rows)
            ids = {row.breakpoint.id for row in rows}
            self._set_during_compile = self._set_during_compile | ids if compiles else self._set_during_compile - ids
        if self._stops is not None:
            self._stops.use(self._by_line())

    def _by_line(self) -> LineTable:
        table: LineTable = {}
        for path, rows in self._rows.items():
            for row in rows:
                table.setdefault(path, {}).setdefault(row.breakpoint.line or 0, []).append(row.breakpoint)
        return table

    # ---- what Dynamo does

    def compile_ended(self, outcome: CompileOutcome) -> None:
        skipped = [code for code, _ in outcome.skipped]
        paths = {key.path for key in functions_of([*outcome.traced, *skipped])}
        with self._lock:
            # a resume function that is skipped was traced as far as it goes, or runs uncompiled
            self._note_passed_by(functions_of([*outcome.traced, *filter(is_resume_function, skipped)]))
        if len(sys.modules) != self._modules_seen:  # another module may have disabled functions
            self._modules_seen = len(sys.modules)
            paths.update(self._rows)
        self._refresh(paths)

    def _note_passed_by(self, keys: set[FunctionKey]) -> None:
        for path in {key.path for key in keys} & self._rows.keys():
            for row in self._rows[path]:
                key, line = row.where.function, row.where.line or 0
                if key is None or key not in keys:
                    continue
                if row.breakpoint.reached:
                    self._passed_by.discard((key, line))
                elif row.breakpoint.id not in self._set_during_compile and not self._traced.awaits(key, line):
                    self._passed_by.add((key, line))
            self._set_during_compile -= {row.breakpoint.id for row in self._rows[path]}

    def note_stop(self, code: types.CodeType, ids: Iterable[int]) -> None:
        """Record that these breakpoints stop in `code`, despite their message. Compiling thread."""
        ids = set(ids)
        with self._lock:
            states = [row.state for rows in self._rows.values() for row in rows]
            if all(state.verified and state.id in self._stopped_at for state in states if state.id in ids):
                return
            self._stopped_at |= ids
        self._traced.note_stop_in(code)
        self._refresh(list(self._rows))

    def _refresh(self, paths: Iterable[str]) -> None:
        changes = []
        with self._lock:
            for path in paths:
                for row in self._rows.get(path, ()):
                    now = self.state(cast("SourceBreakpoint", row.breakpoint.asked), row.where)
                    if now != row.state:
                        row.state = now
                        changes.append(now)
        for state in changes:
            self._changed(state)

    def never_hit(self) -> Iterable[Breakpoint]:
        with self._lock:
            return [
                msgspec.structs.replace(row.state, message=why)
                for rows in self._rows.values()
                for row in rows
                if (why := self._why_never_hit(row)) is not None
            ]

    def _why_never_hit(self, row: PlacedBreakpoint) -> str | None:
        if row.breakpoint.has_stopped:
            return None
        where = row.where
        runs = self._suspension.times_reached(where.path, where.line or 0)
        if row.breakpoint.reached or runs:
            return why_not_stopped(row.breakpoint, runs=runs)
        debugs_file = self._suspension.is_user_code(where.path)
        return why_never_reached(where, self._expectation(where), self._traced, debugs_file, self.compiler_is_debugged)
