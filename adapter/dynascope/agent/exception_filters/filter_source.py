"""The base class of the sources of exception filters."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.agent.events.wrapping import Events
from dynascope.agent.exception_filters.compiler_event import CompilerEvent
from dynascope.agent.suspension.stop import Stop
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadState

StopFor = Callable[[CompilerEvent], Stop | None]
"""Returns the stop for an event; None when no condition of the filter is true for it."""


class FilterSource:
    """Find events on compiling threads and stop at them. Installed while its filter is on."""

    def __init__(self, hook: Hook, stop_for: StopFor) -> None:
        self.hook = hook
        self.stop_for = stop_for
        self._wrappers: tuple[Events | FilterSource, ...] = ()
        self.install()

    def install(self) -> None:
        """Wrap the functions that report events, and pass the wrappers to `listen`."""
        raise NotImplementedError

    def listen(self, *wrappers: Events | FilterSource) -> None:
        """Register wrappers to be removed with the filter."""
        self._wrappers += wrappers

    def remove(self) -> None:
        """Remove every wrapper."""
        wrappers, self._wrappers = self._wrappers, ()
        for wrapper in wrappers:
            wrapper.remove()

    def tell(self, state: ThreadState, event: CompilerEvent) -> bool:
        """Stop at the event if the filter's condition is true; return whether it stopped."""
        stop = self.stop_for(event)
        if stop is None:
            return False
        if event.stack:
            self.hook.stop(state, event.stack, stop)
        else:
            self.hook.stop_at_skipped_frame(state, event.skipped_frame, stop)
        return True
