"""Stop at `comptime.breakpoint()` and `dynascope.breakpoint()` in compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynascope.agent.breakpoints.kind import BreakpointKind

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.kinds.event_stops import ComptimeStops
    from dynascope.agent.tracing.hook import Hook


class ComptimeBreakpoints(BreakpointKind):
    """Breakpoints in the program's source, which the client does not set."""

    def __init__(self) -> None:
        self._stops: ComptimeStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.kinds.event_stops import ComptimeStops

        self._stops = ComptimeStops(hook)

    def detach(self) -> None:
        stops, self._stops = self._stops, None
        if stops is not None:
            stops.remove()

    def reached(self, context: Any) -> None:
        """Stop at `dynascope.breakpoint()`. Takes Dynamo's `ComptimeContext`; compiling thread."""
        if self._stops is not None:
            self._stops.breakpoint(context)
