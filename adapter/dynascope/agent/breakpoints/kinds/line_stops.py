"""Stops of line breakpoints. The hook checks them at the beginning of each line."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.breakpoints.hits import Hits, TracedFrame, ids_of
from dynascope.agent.program.functions import is_loaded
from dynascope.agent.program.source_lines import own_lines
from dynascope.agent.program.user_code import real_path
from dynascope.agent.suspension.stop import Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.agent.tracing.time_travel.visit import Visit
from dynascope.wire.messages import Message


class LineStops:
    """The stop check of line breakpoints; `use` is called on any thread."""

    every_instruction = False

    def __init__(
        self,
        hook: Hook,
        send: Callable[[Message], None],
        stops_in: Callable[[types.CodeType, Sequence[int]], None],
    ) -> None:
        """Call `stops_in` with the code and the ids of the breakpoints that stop in it."""
        self._hook = hook
        self._hits = Hits(send)
        self._stops_in = stops_in
        self._table: Mapping[str, Mapping[int, Sequence[Breakpoint]]] = {}

    def use(self, table: Mapping[str, Mapping[int, Sequence[Breakpoint]]]) -> None:
        """Replace the breakpoints by an immutable table: real path → line → breakpoints."""
        self._table = {path: lines for path, lines in table.items() if lines}
        is_needed, is_any_loaded = bool(self._table), lambda: any(map(is_loaded, self._table))
        self._hook.set_check(self, is_needed, is_any_loaded, self._always_stops_at)

    def may_stop_in(self, code: types.CodeType) -> bool:
        lines = self._table.get(real_path(code.co_filename))
        return lines is not None and not own_lines(code).isdisjoint(lines)

    def _always_stops_at(self, path: str, line: int) -> bool:
        """Whether a breakpoint stops at a line without any condition."""
        breakpoints = self._table.get(real_path(path), {}).get(line, ())
        return any(breakpoint.stops_always for breakpoint in breakpoints)

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        if activation.comes_back:
            return None
        lines = self._table.get(real_path(activation.code.co_filename))
        candidates = lines.get(activation.line or 0) if lines is not None else None
        visit = Visit(state, at_instruction=True)
        hits = self._hits.that_stop(candidates, TracedFrame(activation.translator), visit) if candidates else []
        if not hits:
            return None
        self._stops_in(activation.code, ids_of(hits))
        return Stop("breakpoint", ids_of(hits))
