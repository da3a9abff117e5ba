"""Stop where a fact of a traced line happens, once in each compile: `specialization`."""

from __future__ import annotations

from typing import Any

from dynascope.agent.events.facts import FACT_EVENTS
from dynascope.agent.exception_filters.constraint_violations import VIOLATION, ConstraintViolations
from dynascope.agent.exception_filters.filter_source import CompilerEvent, FilterSource, StopFor, event_info
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.symbolic_shapes import shapes
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.once_per_compile import OncePerCompile
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.explain import stops
from dynascope.explain.kinds import FILTERS, KINDS
from dynascope.explain.problem import Problem
from dynascope.facts.model import Specialization, TracedFact


class FactFilter(FilterSource):
    """Stop at the facts of which problems of one kind are made."""

    def __init__(self, kind: str, hook: Hook, stop_for: StopFor) -> None:
        self._kind = kind
        super().__init__(hook, stop_for)

    def install(self) -> None:
        self._reported = OncePerCompile()
        self.listen(FACT_EVENTS[self._kind](self._happened, self.hook.failures))

    def _happened(self, fact: TracedFact) -> None:
        problem = KINDS[self._kind].problem(fact)

        def serve(state: ThreadState, stack: list[Translator]) -> None:
            place = tuple((id(translators.code_of(each)), translators.instruction_index(each)) for each in stack)
            if self._reported.is_new(state, (place, problem.id, problem.cause)):
                self.tell(state, self.event(fact, problem, stack))

        self.hook.during_instruction(serve)

    def event(self, fact: Any, problem: Problem, stack: list[Translator]) -> CompilerEvent:
        """Return what a stop at the fact tells."""
        text = "\n".join([problem.title, problem.statement, *problem.details])
        return CompilerEvent(event_info(FILTERS[self._kind].noun, text, stack), problem.title, stack)


class Specializations(FactFilter):
    """Stop at specializations as Dynamo decides them, and at constraint violations."""

    def install(self) -> None:
        self._violations = ConstraintViolations(self.hook, self.stop_for)
        self.listen(self._violations)
        super().install()

    def event(self, fact: Specialization, problem: Problem, stack: list[Translator]) -> CompilerEvent:
        symbols = shapes.symbols_so_far(translators.output_of(stack[0]))
        constraints = next((each.constraints for each in symbols if each.name == fact.symbol), [])
        text = stops.specialized(problem.title, fact.reason, constraints)
        exception_id = VIOLATION if constraints else None
        return CompilerEvent(event_info("specialization", text, stack, exception_id=exception_id), problem.title, stack)

    def tell(self, state: ThreadState, event: CompilerEvent) -> bool:
        has_stopped = super().tell(state, event)
        if has_stopped and event.info.exception_id == VIOLATION:
            self._violations.was_told(state, event.stack)
        return has_stopped
