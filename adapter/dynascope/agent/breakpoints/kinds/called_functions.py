"""Let debugpy stop in functions of the program that torch calls while Dynamo compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dynascope.agent.breakpoints.kind import BreakpointKind
from dynascope.agent.suspension.interface import Suspension

if TYPE_CHECKING:
    from dynascope.agent.tracing.hook import Hook


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
