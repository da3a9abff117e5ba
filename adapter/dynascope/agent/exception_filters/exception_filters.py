"""The exception filters of a session: files what the client asks, and has it watched for once Dynamo is there.

Imports no torch itself: a program's torch is not ours to import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dynascope.agent.exception_filters.filter_condition import Wanted, parse
from dynascope.wire.dap import Breakpoint, BreakpointsBody
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import SetExceptionFilters

if TYPE_CHECKING:
    from dynascope.agent.exception_filters.active_filters import Watchers
    from dynascope.agent.tracing.hook import Hook


class ExceptionFilters:
    """One per agent; `begin` is called on the thread that imports Dynamo, the rest on the channel's."""

    def __init__(self) -> None:
        self._wanted: tuple[Wanted, ...] = ()
        self._watchers: Watchers | None = None

    def begin(self, hook: Hook, send: Callable[[Message], None]) -> None:
        """torch._dynamo is imported, and `hook` is in."""
        from dynascope.agent.exception_filters.active_filters import Watchers

        self._watchers = Watchers(hook, send)
        self._watchers.want(self._wanted)

    def end(self) -> None:
        """Take every hook out; nothing stops any more."""
        watchers, self._watchers = self._watchers, None
        if watchers is not None:
            watchers.want(())

    def take(self, message: SetExceptionFilters) -> BreakpointsBody:
        """These filters are on now, and no others; one whose condition cannot be read is not, and says why."""
        states, wanted = [], []
        for asked in message.filters:
            try:
                wanted.append(Wanted(asked.id, asked.filter_id, parse(asked.condition, asked.filter_id)))
                states.append(Breakpoint(id=asked.id, verified=True))
            except ValueError as error:
                states.append(Breakpoint(id=asked.id, verified=False, message=str(error), reason="failed"))
        self._wanted = tuple(wanted)
        if self._watchers is not None:
            self._watchers.want(self._wanted)
        return BreakpointsBody(breakpoints=states)
