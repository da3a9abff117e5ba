"""What happens in a compile stops once, however often Dynamo starts over, for whatever reason."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.tracing.replays import Moments
from dynascope.agent.tracing.thread_state import ThreadTracing


class OncePerCompile:
    """Per thread; unlike `ThreadTracing.moments`, which forgets what was seen when a restart is no mere replay."""

    def __init__(self) -> None:
        self._moments: dict[int, Moments] = {}
        self._attempts: dict[int, tuple[str, int, int]] = {}

    def is_new(self, state: ThreadTracing, moment: Hashable) -> bool:
        """Note that this happens now; whether it has not been noted in an attempt before this one."""
        thread = id(state)
        moments = self._moments.setdefault(thread, Moments())
        compile_id, attempt = compile_id_and_attempt()
        before: Any = self._attempts.get(thread)
        now = self._attempts[thread] = compile_id, attempt, id(state.outermost)
        if before != now:
            moments.attempt_begins(replays=before is not None and before[0] == compile_id and attempt > before[1])
        return moments.is_new(moment)
