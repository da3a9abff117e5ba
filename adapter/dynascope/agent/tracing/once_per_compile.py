"""Stop once at an event of a compile, however often Dynamo restarts, for any reason."""

from __future__ import annotations

from collections.abc import Hashable

from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.tracing.replays import Replays
from dynascope.agent.tracing.thread_state import ThreadState


class OncePerCompile:
    """Remember each thread's events over all restarts, unlike `CompileState.replays`."""

    def __init__(self) -> None:
        self._replays: dict[int, Replays] = {}
        self._attempts: dict[int, tuple[str, int, int]] = {}

    def is_new(self, state: ThreadState, event: Hashable) -> bool:
        """Whether no earlier attempt of this compile had this event; record it."""
        thread = id(state)
        replays = self._replays.setdefault(thread, Replays())
        compile_id, attempt = compile_id_and_attempt()
        before = self._attempts.get(thread)
        now = self._attempts[thread] = compile_id, attempt, id(state.outermost)
        if before != now:
            replays.attempt_begins(replays=before is not None and before[0] == compile_id and attempt > before[1])
        return replays.is_new(event)
