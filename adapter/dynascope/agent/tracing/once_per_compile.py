"""Stop once at an event of a compile, however often Dynamo restarts, for any reason."""

from __future__ import annotations

from collections.abc import Hashable

from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.tracing.thread_state import ThreadState


class OncePerCompile:
    """Tell the events of one kind that this compile has not had."""

    def is_new(self, state: ThreadState, event: Hashable) -> bool:
        """Whether no earlier attempt of this compile had this event; record it."""
        return state.begin_compile().seen.is_new_in_compile((id(self), event), *compile_id_and_attempt())
