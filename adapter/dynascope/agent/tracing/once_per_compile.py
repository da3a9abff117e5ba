"""What happens in a compile stops once, however often and for whatever reason Dynamo starts over."""

from __future__ import annotations

from collections.abc import Hashable

from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.tracing.replays import Replays
from dynascope.agent.tracing.thread_state import ThreadState


class OncePerCompile:
    """For each thread; unlike `CompileState.replays` it keeps what it has seen over every kind of restart."""

    def __init__(self) -> None:
        self._replays: dict[int, Replays] = {}
        self._attempts: dict[int, tuple[str, int, int]] = {}

    def is_new(self, state: ThreadState, event: Hashable) -> bool:
        """Note that this happens now; whether no earlier attempt of this compile had it."""
        thread = id(state)
        replays = self._replays.setdefault(thread, Replays())
        compile_id, attempt = compile_id_and_attempt()
        before = self._attempts.get(thread)
        now = self._attempts[thread] = compile_id, attempt, id(state.outermost)
        if before != now:
            replays.attempt_begins(replays=before is not None and before[0] == compile_id and attempt > before[1])
        return replays.is_new(event)
