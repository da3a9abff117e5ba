"""Stops at breakpoints in the program's source, whenever Dynamo traces a call of them."""

from __future__ import annotations

from typing import Any

from dynascope.agent.events.comptime import ComptimeBreakpointHook, translator_of
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code
from dynascope.agent.suspension.stop import Stop
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.seen_events import instructions_at
from dynascope.agent.tracing.thread_state import ThreadState


class ComptimeStops:
    """Stop on the compiling thread. There is one for each hook."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._comptime_hook = ComptimeBreakpointHook(self._stop)

    def remove(self) -> None:
        """Remove the hook from Dynamo."""
        self._comptime_hook.remove()

    def breakpoint(self, context: Any) -> None:
        """Stop at a call of `dynascope.breakpoint()`; `context` is Dynamo's `ComptimeContext`."""
        translator = translator_of(context)
        if translator is not None:
            self._stop(translator)

    def _stop(self, translator: Translator) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            if not state.begin_compile().seen.is_new(("comptime.breakpoint()", instructions_at(stack))):
                return
            frames = stack[next((i for i, frame in enumerate(stack) if frame is translator), 0) :]
            while len(frames) > 1 and is_our_code(translators.code_of(frames[0]).co_filename):
                frames = frames[1:]
            self._hook.stop(state, frames, Stop("breakpoint"))

        self._hook.during_instruction(serve)
