"""Tell breakpoints and exception filters whether a trace reaches them for the first time."""

from __future__ import annotations

from collections.abc import Hashable

from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.agent.tracing.time_travel.travel import Counted, Rehearsal


class Visit:
    """The arrival of a trace at an instruction, or at an event in the middle of one."""

    def __init__(self, state: ThreadState, at_instruction: bool = False) -> None:
        """Take `at_instruction`: repeated events are recognised otherwise, by `SeenEvents`."""
        self._state = state.begin_compile()
        self._at_instruction = at_instruction

    @property
    def rehearsal(self) -> Rehearsal | None:
        """Return the rehearsal in progress, which counts hits by itself, or None."""
        return None if self._state.travel is None else self._state.travel.rehearsal

    def is_first(self, breakpoint: Counted) -> bool:
        """Whether this compile has not reached the breakpoint here before; record it."""
        state = self._state
        state.hits_before.setdefault(breakpoint, breakpoint.hits)
        here = breakpoint, state.clock.traced.position
        is_first = not self._at_instruction or here not in state.reached
        state.reached.add(here)
        return is_first


class OncePerCompile:
    """Tell the events of one kind that this compile has not had."""

    def is_new(self, state: ThreadState, event: Hashable) -> bool:
        """Whether no earlier attempt of this compile had this event; record it."""
        return state.begin_compile().seen.is_new_in_compile((id(self), event), *compile_id_and_attempt())
