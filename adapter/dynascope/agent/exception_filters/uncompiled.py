"""`skippedFrame` and `backendFailure`: stop where a function or a graph is not compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynascope.agent.events.graph_breaks import BackendFailureEvents, LeavingEvents
from dynascope.agent.exception_filters.filter_source import (
    CompilerEvent,
    FilterSource,
    details_of,
    event_info,
    stack_text,
)
from dynascope.agent.internals.compile import exceptions
from dynascope.agent.internals.compile.exceptions import failure_of
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import name_of, original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code, is_user_code, real_path
from dynascope.agent.tracing.stop_check import TraceObserver
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.explain.failures import NO_REASON, backend_failed, not_compiled, raised
from dynascope.explain.problem import first_line
from dynascope.explain.stops import breaks
from dynascope.facts import break_message
from dynascope.facts.model import BackendFailure
from dynascope.wire.dap import ExceptionInfo


class SkippedFrames(FilterSource, TraceObserver, of="skippedFrame"):
    """Stop at frames that Dynamo does not trace, as the hook reports, and at those it gives up."""

    def install(self) -> None:
        self.listen(LeavingEvents(self._leaving, self.hook.failures))
        self.hook.compiles.observe(self)

    def remove(self) -> None:
        self.hook.compiles.unobserve(self)
        super().remove()

    def _leaving(self, error: BaseException) -> None:
        """Stop as the outermost frame is left for an error because of which Dynamo skips it."""
        if exceptions.skips_frame(error) or exceptions.was_taken(error):
            message = exceptions.message_of(error)
            self.hook.during_instruction(lambda state, stack: self._skips(state, message, stack, error=error))

    def frame_skipped(self, state: ThreadState, frame: Any, reason: str) -> None:
        path = real_path(original_code(frame.f_code).co_filename)
        if is_user_code(path) and not is_our_code(path):
            self._skips(state, reason, frame=frame)

    def _skips(
        self,
        state: ThreadState,
        reason: str,
        stack: Sequence[Translator] = (),
        frame: Any = None,
        error: BaseException | None = None,
    ) -> None:
        code = frame.f_code if frame is not None else translators.code_of(stack[0])
        title, messages = not_compiled(name_of(code), first_line(reason)), break_message.parse_all(reason)
        description = f"{title}\n{breaks(messages) if reason else NO_REASON}"
        info = event_info("skipped frame", description, stack, message=reason or NO_REASON)
        event = CompilerEvent(info, title, list(stack), skipped_frame=frame, messages=messages, error=error)
        self.tell(state, event)


class BackendFailures(FilterSource, of="backendFailure"):
    """Stop at failures of backends."""

    def install(self) -> None:
        def failed(error: BaseException) -> None:
            self.hook.during_instruction(lambda state, stack: self.tell(state, _event(error, stack)))

        self.listen(BackendFailureEvents(failed, self.hook.failures))


def _event(error: BaseException, stack: list[Translator]) -> CompilerEvent:
    backend, inner, trace = failure_of(error)
    details = details_of(error, str(error), stack_text(stack))
    if inner is not None:
        details.inner_exception = [details_of(inner, str(inner), trace)]
    failed = error if inner is None else inner
    fact = BackendFailure(path="", line=0, backend=backend, exception=type(failed).__name__, message=str(failed))
    return CompilerEvent(
        info=ExceptionInfo(
            exception_id=fact.exception,
            break_mode="unhandled",
            description=f"{raised(fact)}: {fact.message}",
            details=details,
        ),
        title=backend_failed(fact),
        stack=stack,
    )
