"""`specialization`: stop where a symbol gets a fixed value, or a constraint is violated."""

from __future__ import annotations

from dynascope.agent.events.symbols import SpecializationEvents
from dynascope.agent.exception_filters.compiler_event import CompilerEvent, event_info
from dynascope.agent.exception_filters.constraint_violations import VIOLATION, ConstraintViolations
from dynascope.agent.exception_filters.filter_source import FilterSource
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.symbolic_shapes import shapes
from dynascope.agent.tracing.once_per_compile import OncePerCompile
from dynascope.agent.tracing.thread_state import ThreadState


class Specializations(FilterSource):
    """Stop at specializations as Dynamo decides them, and at constraint violations."""

    def install(self) -> None:
        self._reported = OncePerCompile()
        self._violations = ConstraintViolations(self.hook, self.stop_for)
        self.listen(self._violations, SpecializationEvents(self._specialized, self.hook.failures))

    def _specialized(self, symbol: str, value: str, reason: str, origins: list[str]) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            place = tuple((id(translators.code_of(each)), translators.instruction_index(each)) for each in stack)
            if self._reported.is_new(state, (place, tuple(origins), value)):
                event = _event(symbol, value, reason, origins, stack)
                if self.tell(state, event) and event.info.exception_id == VIOLATION:
                    self._violations.was_told(state, stack)

        self.hook.during_instruction(serve)


def _event(symbol: str, value: str, reason: str, origins: list[str], stack: list[Translator]) -> CompilerEvent:
    whose = f" ({', '.join(origins)})" if origins else ""
    lines = [f"The symbol {symbol}{whose} is fixed to {value}: another size is compiled again.", f"Reason: {reason}"]
    facts = shapes.symbols_so_far(translators.output_of(stack[0]))
    constraints = next((fact.constraints for fact in facts if fact.name == symbol), [])
    if constraints:
        lines.append(f"It was marked dynamic: {'; '.join(constraints)}. Dynamo will raise a violation.")
    description = "\n".join(line for line in lines if not line.endswith(": "))
    exception_id = VIOLATION if constraints else None
    return CompilerEvent(
        info=event_info("specialization", description, stack, exception_id=exception_id),
        title=f"{symbol} = {value}{whose}",
        stack=stack,
    )
