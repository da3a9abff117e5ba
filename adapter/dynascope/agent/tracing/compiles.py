"""Begin and end the state of each thread's compile, and notify observers of compiles."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from dynascope.agent.events import convert_frame
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.stops import CompileStops
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver
from dynascope.agent.tracing.thread_state import ThreadState, ThreadStates
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message

_TRACED_DIFFERENTLY = (
    "Dynamo did not trace this frame as it did before, so the place to go back to was not reached; the compile "
    "continues.\n"
)
_ENDED_BY = "{} ended this compile before the place to go back to was reached.\n"


class HookedCompiles:
    """The `convert_frame.DynamoCalls` of the hook, on compiling threads."""

    def __init__(
        self,
        threads: ThreadStates,
        suspension: Suspension,
        stops: CompileStops,
        send: Callable[[Message], None],
    ) -> None:
        self.threads = threads
        self.enabled = True
        self.user_frame: Callable[[], types.FrameType | None] = lambda: None
        """Returns the innermost frame of the user's that runs."""
        self._suspension = suspension
        self._stops = stops
        self._send = send
        self._has_compiled = False
        self._observers: tuple[TraceObserver, ...] = ()

    def observe(self, observer: TraceObserver) -> None:
        """Notify `observer` of compiles from now on."""
        self._observers = (*self._observers, observer)

    def unobserve(self, observer: TraceObserver) -> None:
        """Stop notifying `observer`."""
        self._observers = tuple(other for other in self._observers if other is not observer)

    def compile_begins(self) -> None:
        if not self._has_compiled:
            self._has_compiled = True
            for observer in self._observers:
                observer.first_compile()
        state = self.threads.current()
        state.depth += 1
        if state.depth == 1 and self.enabled and not state.is_stopped:
            state.begin_compile().suspension_token = self._suspension.compile_begins()
            state.thread_id = self._suspension.thread_id()
            self._stops.compile_begins()
        _state_of_call().call_begins()

    def compile_ends(self, frame: Any, compiled: bool, skip_reason: str | None) -> None:
        _state_of_call().call_ends()
        state = self.threads.current()
        if state.is_stopped:
            state.depth -= 1
            return
        if skip_reason is not None and not (state.compile is not None and state.compile.has_traced):
            self._frame_skipped(state, frame, skip_reason)
        state.depth -= 1
        if skip_reason is not None:
            state.begin_compile().skipped.append((frame.f_code, skip_reason))
        if state.depth == 0:
            self._outermost_ends(state, compiled)

    def trace_ends(self) -> None:
        state = self.threads.existing()
        if state is None or state.is_stopped or state.depth != 1 or state.compile is None:
            return
        self._travel_fails(state)
        for observer in self._observers:
            observer.trace_ends(state)
        state.compile.trace_ends()

    def _frame_skipped(self, state: ThreadState, frame: Any, reason: str) -> None:
        if self.enabled:
            for observer in self._observers:
                observer.frame_skipped(state, frame, reason)

    def _outermost_ends(self, state: ThreadState, compiled: bool) -> None:
        self._travel_fails(state)
        compile_state = state.begin_compile()
        self._suspension.compile_ends(compile_state.suspension_token)
        try:
            traced = compile_state.traced_codes() if compiled else []
            abandoned = [] if compiled else compile_state.abandoned_codes()
            if compiled or abandoned or compile_state.skipped:
                outcome = CompileOutcome(traced, compile_state.skipped, abandoned)
                for observer in self._observers:
                    observer.compile_ended(outcome)
        finally:
            compile_state.trace_ends()
            state.compile = None
        if state.stepping.compile_ends():
            # another compile may continue the step before it ends at run time (see `step_continuation`)
            self._suspension.finish_step_at_runtime(self.user_frame(), state.step_lines)

    def attempt_restarts(self, kind: convert_frame.Restart, reason: str) -> None:
        state = self.threads.current()
        if not state.is_stopped:
            self._travel_fails(state)
            state.begin_compile().attempt_restarts(replays=kind == "speculation")
            for observer in self._observers:
                observer.attempt_restarts(reason, replays=kind == "speculation")

    def _travel_fails(self, state: ThreadState) -> None:
        """End a travel that has not arrived: Dynamo traced otherwise, or was interrupted."""
        compile_state = state.begin_compile()
        if compile_state.travel is not None:
            compile_state.travel_ends()
            code = translators.code_of(compile_state.outermost)
            place = code.co_filename, code.co_firstlineno
            error = sys.exception()
            is_ended = error is not None and not isinstance(error, Exception)
            text = _ENDED_BY.format(type(error).__name__) if is_ended else _TRACED_DIFFERENTLY
            self._send(ConsoleOutput(category="important", output=text, path=place[0], line=place[1]))

    def trace_repeats(self) -> None:
        self.threads.current().begin_compile().trace_repeats()

    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str, guards: Any) -> None:
        self._suspension.code_generated(generated, guards)
        for observer in self._observers:
            observer.code_generated(code, generated, compile_id)

    def attempt_begins(self, state: ThreadState, translator: Translator) -> None:
        """Notify the observers that Dynamo begins to trace a frame, for the first time or again."""
        for observer in self._observers:
            observer.attempt_begins(state, translator)


def _state_of_call() -> types.ModuleType:
    """Return a module that imports torch, as the agent must not where it begins."""
    from dynascope.agent.isolation import state_of_call

    return state_of_call
