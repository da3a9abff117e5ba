"""Report the phases of compiles that torch times itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import _guards

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

PhaseBegins = Callable[[str, str | None], None]
"""Called with the name of the phase, and the id of the compile, `0/1`; None where torch does not know it."""
PhaseEnds = Callable[[str], None]


class PhaseEvents(Events):
    """Call `begins` and `ends` for each phase: what `torch._dynamo.utils.dynamo_timed` (2.0) times, on its thread."""

    def __init__(self, begins: PhaseBegins, ends: PhaseEnds, failures: HookFailures) -> None:
        super().__init__(failures)
        self._begins, self._ends = begins, ends
        self.call_before(torch_names.LOG_EVENT_START, self._start)
        self.call_after(torch_names.LOG_EVENT_END, self._end)

    def _start(self, logger: Any, event_name: str, *args: Any, compile_id: Any = None, **kwargs: Any) -> None:
        given = compile_id or (args[3] if len(args) > 3 else None) or _guards.CompileContext.current_compile_id()
        self._begins(event_name, str(given) if given is not None else None)

    def _end(self, _: None, logger: Any, event_name: str, *args: Any, **kwargs: Any) -> None:
        self._ends(event_name)
