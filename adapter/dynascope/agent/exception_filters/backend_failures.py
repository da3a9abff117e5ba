"""`backendFailure`: stop where the backend failed, while Dynamo still has the graph."""

from __future__ import annotations

from dynascope.agent.events.graph_breaks import BackendFailureEvents
from dynascope.agent.exception_filters.compiler_event import CompilerEvent, details_of, stack_text
from dynascope.agent.exception_filters.filter_source import FilterSource
from dynascope.agent.internals.compile.exceptions import failure_of
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.wire.dap import ExceptionInfo


class BackendFailures(FilterSource):
    """Stop at failures of backends."""

    def install(self) -> None:
        self.listen(BackendFailureEvents(self._failed, self.hook.failures))

    def _failed(self, error: BaseException) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            self.tell(state, _event(error, stack))

        self.hook.during_instruction(serve)


def _event(error: BaseException, stack: list[Translator]) -> CompilerEvent:
    backend, inner, trace = failure_of(error)
    details = details_of(error, str(error), stack_text(stack))
    if inner is not None:
        details.inner_exception = [details_of(inner, str(inner), trace)]
    failed = f"{type(inner).__name__}: {inner}" if inner is not None else str(error)
    return CompilerEvent(
        info=ExceptionInfo(
            exception_id=type(inner if inner is not None else error).__name__,
            break_mode="unhandled",
            description=f"The backend {backend!r} raised {failed}",
            details=details,
        ),
        title=f"{backend}: {failed.partition(chr(10))[0]}",
        stack=stack,
    )
