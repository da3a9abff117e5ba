"""Stop where a fact of a traced line happens, once in each compile; with `specialization` at constraint violations too.

Dynamo raises a violation when it builds the guards, after leaving every frame: the outermost frame is shown as it was
left, with the lines that decided on the symbols. A violation already reported as a specialization is not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dynascope.agent.events.facts import FACT_EVENTS, ConstraintViolationEvents, SymbolEvent, SymbolEvents
from dynascope.agent.exception_filters.filter_source import (
    CompilerEvent,
    FilterSource,
    details_of,
    event_info,
    frames_of,
    traceback_of,
)
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.symbolic_shapes import shapes
from dynascope.agent.program.user_code import is_user_code, real_path
from dynascope.agent.tracing.first_time import OncePerCompile
from dynascope.agent.tracing.stop_check import TraceObserver
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.explain import stops
from dynascope.explain.kinds import FILTERS, KINDS
from dynascope.explain.problem import Problem, where
from dynascope.facts.model import Specialization, TracedFact
from dynascope.facts.user_stack import UserFrame
from dynascope.wire.dap import ExceptionInfo

VIOLATION = "constraint violation"
"""The DAP `exceptionId`."""
_DECISIONS_KEPT = 1_000
_DECISIONS_TOLD = 8


@dataclass
class _Decision:
    """A decision on a symbol, with the frames that it was made in, outermost first."""

    event: SymbolEvent
    frames: list[UserFrame]

    def __str__(self) -> str:
        """Return the text, as `s0 refined to [6, oo] by s0 > 5 (model.py:12)`."""
        frames = [frame for frame in self.frames if is_user_code(real_path(frame.path))] or self.frames
        return f"{self.event} ({where(frames[-1].path, frames[-1].line)})"


@dataclass
class _Compile:
    """A thread's current compile, or previous capture, as `torch.export` builds guards after tracing."""

    outermost: Translator
    decisions: list[_Decision] = field(default_factory=list)
    told: int = 0
    """The number of violations already reported when they were decided."""


class ConstraintViolations(FilterSource, TraceObserver):
    """Stop at violations. `Specializations` installs this and reports those it has stopped at."""

    def install(self) -> None:
        self._compiles: dict[int, _Compile] = {}
        """By thread."""
        failures = self.hook.failures
        self.hook.compiles.observe(self)
        self.listen(ConstraintViolationEvents(self._violated, failures), SymbolEvents(self._decided, failures))

    def remove(self) -> None:
        super().remove()
        self.hook.compiles.unobserve(self)
        self._compiles.clear()

    def trace_ends(self, state: ThreadState) -> None:
        self._compiles.pop(id(state), None)

    def was_told(self, state: ThreadState, stack: Sequence[Translator]) -> None:
        """Record that a violation stopped where it was decided."""
        self._of(state, stack[-1]).told += 1

    def _of(self, state: ThreadState, outermost: Translator) -> _Compile:
        current = self._compiles.get(id(state))
        if current is None or current.outermost is not outermost:
            current = self._compiles[id(state)] = _Compile(outermost)
        return current

    def _decided(self, events: list[SymbolEvent]) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            decisions = self._of(state, stack[-1]).decisions
            if len(decisions) < _DECISIONS_KEPT:
                decisions.extend(_Decision(event, frames_of(stack)) for event in events)

        self.hook.during_instruction(serve)

    def _violated(self, error: BaseException) -> None:
        def serve(state: ThreadState) -> None:
            current = self._compiles.pop(id(state), None)
            outermost = state.outermost or (current.outermost if current is not None else None)
            if outermost is None:
                return  # from torch.export with strict=False, without Dynamo
            if current is None or current.outermost is not outermost:
                current = _Compile(outermost)
            if current.told < max(str(error).count("\n  - "), 1):
                stack = translators.active_translators(outermost)[::-1] or [outermost]
                self.tell(state, _event(error, current.decisions, stack))

        self.hook.outside_trace(serve)


def _event(error: BaseException, decisions: Sequence[_Decision], stack: list[Translator]) -> CompilerEvent:
    message = str(error)
    named = [decision for decision in decisions if any(source in message for source in decision.event.sources)]
    chosen = list({str(decision): decision for decision in named or decisions}.values())[-_DECISIONS_TOLD:]
    lines = [f"Decided: {decision}" for decision in chosen]
    trace = traceback_of(chosen[-1].frames if chosen else frames_of(stack))
    return CompilerEvent(
        info=ExceptionInfo(
            exception_id=VIOLATION,
            break_mode="unhandled",
            description="\n".join([message, *lines]),
            details=details_of(error, message, trace),
        ),
        title=message.partition("\n")[0],
        stack=stack,
        decided_at=[(real_path(frame.path), frame.line) for decision in chosen for frame in reversed(decision.frames)],
    )


class FactFilter(FilterSource):
    """Stop at the facts of which problems of one kind are made."""

    def install(self) -> None:
        self._reported = OncePerCompile()
        self.listen(FACT_EVENTS[self.filter_id](self._happened, self.hook.failures))

    def _happened(self, fact: TracedFact) -> None:
        problem = KINDS[self.filter_id].problem(fact)

        def serve(state: ThreadState, stack: list[Translator]) -> None:
            place = tuple((id(translators.code_of(each)), translators.instruction_index(each)) for each in stack)
            if self._reported.is_new(state, (place, problem.id, problem.cause)):
                self.tell(state, self.event(fact, problem, stack))

        self.hook.during_instruction(serve)

    def event(self, fact: Any, problem: Problem, stack: list[Translator]) -> CompilerEvent:
        """Return what a stop at the fact tells."""
        text = "\n".join([problem.title, problem.statement, *problem.details])
        return CompilerEvent(event_info(FILTERS[self.filter_id].noun, text, stack), problem.title, stack)


class Specializations(FactFilter, of="specialization"):
    """Stop at specializations as Dynamo decides them, and at constraint violations."""

    def install(self) -> None:
        self._violations = ConstraintViolations(self.filter_id, self.hook, self.stop_for)
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
