"""`specialization`: at the line for which Dynamo fixes a symbol to the number it has now, and where a compile fails
because a size that had to stay dynamic did not."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.agent.exception_filters.compiler_event import Fault, stack_text
from dynascope.agent.exception_filters.constraint_violations import VIOLATION, ConstraintViolations
from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.symbolic_shapes import shapes
from dynascope.agent.internals.symbolic_shapes.specializations import SpecializationEvents
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.once_per_compile import OncePerCompile
from dynascope.agent.tracing.thread_state import ThreadTracing
from dynascope.wire.exceptions import ExceptionDetails, ExceptionInfo


class Specializations:
    """Installed while the filter is on."""

    def __init__(self, hook: Hook, report: Callable[[ThreadTracing, Fault], bool]) -> None:
        self._hook = hook
        self._report = report
        self._once = OncePerCompile()
        self._events = SpecializationEvents(self._specialized)
        self._violations = ConstraintViolations(hook, report)

    def remove(self) -> None:
        self._violations.remove()
        self._events.remove()

    def _specialized(self, symbol: str, value: str, reason: str, origins: list[str]) -> None:
        def serve(state: ThreadTracing, stack: list[Translator]) -> None:
            moment = tuple((id(tracing.code_of(each)), tracing.instruction_index(each)) for each in stack)
            if self._once.is_new(state, (moment, tuple(origins), value)):
                fault = _fault(symbol, value, reason, origins, stack)
                if self._report(state, fault) and fault.info.exception_id == VIOLATION:
                    self._violations.was_told(state, stack)

        self._hook.amid(serve)


def _fault(symbol: str, value: str, reason: str, origins: list[str], stack: list[Translator]) -> Fault:
    title = f"{symbol} = {value}"
    whose = f" ({', '.join(origins)})" if origins else ""
    lines = [f"The symbol {symbol}{whose} is fixed to {value}: another size is compiled again.", f"Reason: {reason}"]
    known = shapes.symbols_so_far(tracing.output_of(stack[0]))
    constraints = next((fact.constraints for fact in known if fact.name == symbol), [])
    if constraints:
        lines.append(f"It was asked to stay dynamic: {'; '.join(constraints)}. Dynamo will raise a violation.")
    description = "\n".join(line for line in lines if not line.endswith(": "))
    return Fault(
        info=ExceptionInfo(
            exception_id=VIOLATION if constraints else "specialization",
            break_mode="always",
            description=description,
            details=ExceptionDetails(
                message=description,
                type_name="specialization",
                full_type_name="specialization",
                stack_trace=stack_text(stack),
            ),
        ),
        title=title + (f"{whose}" if whose else ""),
        stack=stack,
    )
