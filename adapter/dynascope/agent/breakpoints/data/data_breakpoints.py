"""Data breakpoints, which stop at what the compiler decides of a value, in any frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from dynascope.agent.breakpoints import hit_counts, placement
from dynascope.agent.breakpoints.data.never_hit import why_never_hit
from dynascope.agent.breakpoints.data.watchpoint import STOPS_AT, Watchpoint, Watchpoints
from dynascope.agent.breakpoints.kind import BreakpointKind
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import DataBreakpoint
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.data.watchpoint_stops import WatchpointStops
    from dynascope.agent.tracing.hook import Hook


class DataBreakpoints(BreakpointKind):
    """Breakpoints on values. They are set on the channel's thread."""

    def __init__(self, send: Callable[[Message], None], traced: TracedFunctions) -> None:
        self._send = send
        self._traced = traced
        self._watchpoints = Watchpoints()
        self._states: dict[int, BreakpointState] = {}
        self._stops: WatchpointStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.data.watchpoint_stops import WatchpointStops

        self._stops = WatchpointStops(hook, self._send)
        self._stops.use(self._watchpoints)

    def detach(self) -> None:
        stops, self._stops = self._stops, None
        if stops is not None:
            stops.remove()

    def set(self, asked: Sequence[DataBreakpoint]) -> list[BreakpointState]:
        """Make these the data breakpoints; return the state of each."""
        states, watchpoints = [], []
        for request in asked:
            try:
                watchpoints.append(hit_counts.at_work(request, None, Watchpoint))
            except ValueError as error:
                states.append(placement.refused(request.id, str(error)))
            else:
                message = hit_counts.with_what_counts(STOPS_AT[request.access_type or "write"], request, False)
                states.append(BreakpointState(id=request.id, verified=True, message=message))
        self._watchpoints = Watchpoints(watchpoints)
        self._states = {state.id: state for state in states}
        if self._stops is not None:
            self._stops.use(self._watchpoints)
        return states

    def never_hit(self) -> Iterable[BreakpointState]:
        for watchpoint in self._watchpoints:
            why = why_never_hit(watchpoint, self._traced)
            if why is not None:
                yield msgspec.structs.replace(self._states[watchpoint.id], message=why)
