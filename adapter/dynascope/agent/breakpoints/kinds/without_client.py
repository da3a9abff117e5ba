"""The kinds that the client does not set: breakpoints in the source, and debugpy's in functions that torch calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dynascope.agent.breakpoints.kind import BreakpointKind
from dynascope.agent.suspension.interface import Suspension

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.kinds.trace_stops import ComptimeStops
    from dynascope.agent.tracing.hook import Hook


class ComptimeBreakpoints(BreakpointKind):
    """Breakpoints in the program's source, which the client does not set."""

    def __init__(self) -> None:
        self._stops: ComptimeStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.kinds.trace_stops import ComptimeStops

        self._stops = ComptimeStops(hook)

    def detach(self) -> None:
        stops, self._stops = self._stops, None
        if stops is not None:
            stops.remove()

    def reached(self, context: Any) -> None:
        """Stop at `dynascope.breakpoint()`. Takes Dynamo's `ComptimeContext`; compiling thread."""
        if self._stops is not None:
            self._stops.breakpoint(context)


class CalledFunctions(BreakpointKind):
    """Enable debugpy's tracing, which is off while Dynamo compiles, during such calls."""

    def __init__(self, suspension: Suspension) -> None:
        self._suspension = suspension
        self._remove: Callable[[], None] = lambda: None

    def attach(self, hook: Hook) -> None:
        if self._suspension.kind != "pydevd":
            return
        from dynascope.agent.events.program_calls import ProgramCalls

        def begins(files: Iterable[str]) -> Any:
            return None if hook.traces_again() else self._suspension.call_begins(files)

        def ends(token: Any) -> None:
            self._suspension.call_ends(token)
            hook.continue_runtime_step()

        self._remove = ProgramCalls(begins, ends, hook.failures).remove

    def detach(self) -> None:
        remove, self._remove = self._remove, lambda: None
        remove()
