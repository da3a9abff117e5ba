"""Let debugpy stop in the functions of a backend while Dynamo calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dynascope.agent.breakpoints.kind import BreakpointKind
from dynascope.agent.suspension.interface import Suspension

if TYPE_CHECKING:
    from dynascope.agent.tracing.hook import Hook


class BackendFunctions(BreakpointKind):
    """Enable debugpy's tracing, which is off while Dynamo compiles, during calls of a backend."""

    def __init__(self, suspension: Suspension) -> None:
        self._suspension = suspension
        self._remove: Callable[[], None] = lambda: None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.internals.compile.backend_calls import BackendCalls

        self._remove = BackendCalls(
            self._suspension.backend_begins, self._suspension.backend_ends, hook.failures
        ).remove

    def detach(self) -> None:
        remove, self._remove = self._remove, lambda: None
        remove()
