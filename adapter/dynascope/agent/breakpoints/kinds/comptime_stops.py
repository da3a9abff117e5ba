"""`comptime.breakpoint()` and `dynascope.breakpoint()` in compiled code: stops at the user's own line."""

from __future__ import annotations

from typing import Any

from dynascope.agent.internals.comptime import breakpoint as comptime
from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadTracing


class ComptimeStops:
    """One per hook; on the compiling thread."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._comptime_hook = comptime.ComptimeBreakpointHook(self._stop)

    def remove(self) -> None:
        self._comptime_hook.remove()

    def breakpoint(self, context: Any) -> None:
        """`dynascope.breakpoint()`, with Dynamo's `ComptimeContext`."""
        translator = comptime.translator_of(context)
        if translator is not None:
            self._stop(translator)

    def _stop(self, translator: Translator) -> None:
        def serve(state: ThreadTracing, stack: list[Translator]) -> None:
            if state.events <= state.high_breakpoint:
                return
            state.high_breakpoint = state.events
            shown = stack[next((i for i, frame in enumerate(stack) if frame is translator), 0) :]
            while len(shown) > 1 and is_our_code(tracing.code_of(shown[0]).co_filename):
                shown = shown[1:]
            self._hook.hold(state, shown, "breakpoint", [])

        self._hook.amid(serve)
