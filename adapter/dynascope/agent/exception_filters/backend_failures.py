"""`backendFailure`: where the backend has failed, before Dynamo gives the compile up. The graph is there to look at."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.agent.exception_filters.compiler_event import Fault, details_of, stack_text
from dynascope.agent.internals.compile.backend_failures import BackendFailureEvents, failure_of
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadTracing
from dynascope.wire.exceptions import ExceptionInfo


class BackendFailures:
    """Installed while the filter is on."""

    def __init__(self, hook: Hook, report: Callable[[ThreadTracing, Fault], bool]) -> None:
        self._hook = hook
        self._report = report
        self._events = BackendFailureEvents(self._failed)

    def remove(self) -> None:
        self._events.remove()

    def _failed(self, error: BaseException) -> None:
        def serve(state: ThreadTracing, stack: list[Translator]) -> None:
            self._report(state, _fault(error, stack))

        self._hook.amid(serve)


def _fault(error: BaseException, stack: list[Translator]) -> Fault:
    backend, inner, trace = failure_of(error)
    told = details_of(error, str(error), stack_text(stack))
    if inner is not None:
        told.inner_exception = [details_of(inner, str(inner), trace)]
    failed = f"{type(inner).__name__}: {inner}" if inner is not None else str(error)
    return Fault(
        info=ExceptionInfo(
            exception_id=type(inner if inner is not None else error).__name__,
            break_mode="unhandled",
            description=f"The backend {backend!r} raised {failed}",
            details=told,
        ),
        title=f"{backend}: {failed.partition(chr(10))[0]}",
        stack=stack,
    )
