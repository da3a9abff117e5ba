"""The exception filters that are on, and their sources once torch._dynamo is imported.

This module imports no torch: only the program may import it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dynascope.agent.breakpoints.kind import BreakpointKind, refused
from dynascope.agent.exception_filters.filter_condition import ActiveFilter, parse
from dynascope.wire.dap import Breakpoint
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import ExceptionFilter

if TYPE_CHECKING:
    from dynascope.agent.exception_filters.active_filters import ActiveFilters
    from dynascope.agent.tracing.hook import Hook


class ExceptionFilters(BreakpointKind):
    """The filters of one agent. They are set on the channel's thread."""

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
        """Switch on only these filters; one whose condition cannot be parsed is refused."""
        states, filters = [], []
        for request in asked:
            try:
                filters.append(ActiveFilter(request.id, request.filter_id, parse(request.condition, request.filter_id)))
                states.append(Breakpoint(id=request.id, verified=True))
            except ValueError as error:
                states.append(refused(request.id, str(error)))
        self._on = tuple(filters)
        if self._active is not None:
            self._active.use(self._on)
        return states
