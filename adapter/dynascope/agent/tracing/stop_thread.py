"""Stops the current thread at what it traces, and starts the step with which the user lets it go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import package_of, real_path
from dynascope.agent.stops.stops import ExceptionStop, Stops
from dynascope.agent.tracing.runtime_frames import ProgramBelow, function_of
from dynascope.agent.tracing.stepping import FrameId
from dynascope.agent.tracing.thread_state import ThreadTracing
from dynascope.wire.messages import StopReason


class Holding:
    """On compiling threads; `watch` makes a frame call us before each of its instructions."""

    def __init__(self, stops: Stops, below: ProgramBelow, watch: Callable[[ThreadTracing, Translator], None]) -> None:
        self._stops = stops
        self._below = below
        self._watch = watch

    def hold(
        self,
        state: ThreadTracing,
        stack: list[Translator],
        reason: StopReason,
        ids: list[int],
        text: str | None = None,
        exception: ExceptionStop | None = None,
    ) -> None:
        """Stop the current thread, here and now; `stack` is innermost first, `text` says more than `reason` does."""
        state.stepping.cancel()
        state.is_held = True
        try:
            command = self._stops.hold(stack, self._below.frame(), reason, ids, text, exception)
        finally:
            state.is_held = False
        state.step_package = package_of(real_path(tracing.code_of(stack[0]).co_filename))
        frames: list[FrameId] = [state.frames.get(id(translator), -1) for translator in stack]
        functions = [function_of(tracing.code_of(translator)) for translator in stack] + self._below.functions()
        how = self._stops.step_prepared(tracing.instruction_index(stack[0]))
        state.stepping.command(command, frames, functions, *how)
        steps = self._below.lines_passed(stack) if command != "continue" else []
        state.passed = steps[1:] if command == "stepOut" else steps
        for translator, frame in zip(stack, frames, strict=True):
            if state.stepping.watches(frame):
                self._watch(state, translator)

    def hold_at_entry(
        self, state: ThreadTracing, frame: Any, ids: list[int], text: str, exception: ExceptionStop
    ) -> None:
        """Stop where Dynamo was called for a frame and does not trace it; `frame` is its view of it."""
        state.stepping.cancel()
        state.is_held = True
        try:
            command = self._stops.hold_at_entry(frame, self._below.frame(), ids, text, exception)
        finally:
            state.is_held = False
        self._stops.step_prepared(-1)  # whatever was prepared, there are no instructions to step by
        state.stepping.command(command, [-1], [function_of(frame.f_code), *self._below.functions()])
        state.passed = []
