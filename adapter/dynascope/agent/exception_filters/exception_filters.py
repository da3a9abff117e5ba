"""The exception filters of a session: which are on, and since when Dynamo is there, what watches for them.

Imports no torch itself: a program's torch is not the debugger's to import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dynascope.agent.breakpoints import placement
from dynascope.agent.breakpoints.kind import BreakpointKind
from dynascope.agent.exception_filters.filter_condition import ActiveFilter, parse
from dynascope.wire.dap import Breakpoint
from dynascope.wire.exceptions import ExceptionFilter
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.exception_filters.active_filters import ActiveFilters
    from dynascope.agent.tracing.hook import Hook


class ExceptionFilters(BreakpointKind):
    """One for each agent; set on the channel's thread."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._on: tuple[ActiveFilter, ...] = ()
        self._active: ActiveFilters | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.exception_filters.active_filters import ActiveFilters

        self._active = ActiveFilters(hook, self._send)
        self._active.use(self._on)

    def detach(self) -> None:
        active, self._active = self._active, None
        if active is not None:
            active.use(())

    def set(self, asked: Sequence[ExceptionFilter]) -> list[Breakpoint]:
        """Switch these filters on, and no others; one whose condition cannot be read is refused."""
        states, filters = [], []
        for one in asked:
            try:
                filters.append(ActiveFilter(one.id, one.filter_id, parse(one.condition, one.filter_id)))
                states.append(Breakpoint(id=one.id, verified=True))
            except ValueError as error:
                states.append(placement.refused(one.id, str(error)))
        self._on = tuple(filters)
        if self._active is not None:
            self._active.use(self._on)
        return states
