"""Note what a compile has done outside Dynamo, of which the user is told before going back."""

from __future__ import annotations

from dynascope.agent.events.effects import EffectEvents
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadState


class Effects:
    """Note the effects of each compile in its state. There is one for each hook."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._events = EffectEvents(self._happened, hook.failures)

    def remove(self) -> None:
        """Note no more."""
        self._events.remove()

    def _happened(self, effect: str) -> None:
        def note(state: ThreadState, stack: list[Translator]) -> None:
            effects = state.begin_compile().effects
            if effect not in effects:
                effects.append(effect)

        self._hook.during_instruction(note)
