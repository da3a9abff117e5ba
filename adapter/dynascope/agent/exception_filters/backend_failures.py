"""`backendFailure`: stop where the backend failed, while Dynamo still has the graph."""

from __future__ import annotations

from dynascope.agent.events.graph_breaks import BackendFailureEvents
from dynascope.agent.exception_filters.compiler_event import CompilerEvent, details_of, stack_text
from dynascope.agent.exception_filters.filter_source import FilterSource
from dynascope.agent.internals.compile.exceptions import failure_of
from dynascope.agent.internals.frames.translators import Translator
from dynascope.explain.failures import backend_failed, raised
from dynascope.facts.model import BackendFailure
from dynascope.wire.dap import ExceptionInfo


class BackendFailures(FilterSource):
    """Stop at failures of backends."""

    def install(self) -> None:
        self.listen(BackendFailureEvents(self._failed, self.hook.failures))

    def _failed(self, error: BaseException) -> None:
        self.hook.during_instruction(lambda state, stack: self.tell(state, _event(error, stack)))


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
