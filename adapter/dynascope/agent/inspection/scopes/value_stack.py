"""Build the heading Value Stack: operands of later instructions, top first, with roles."""

from __future__ import annotations

from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values import symbolic
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, computed
from dynascope.agent.internals.frames.frame_state import value_stack
from dynascope.agent.internals.frames.stack_roles import stack_roles
from dynascope.agent.internals.variables.variables import is_variable


def heading(names: Names) -> Heading:
    stack = value_stack(names.translator)

    def make(options: ViewOptions) -> list[Row]:
        roles = _roles(names, len(stack))
        operands = [(i, operand) for i, operand in enumerate(stack) if is_variable(operand)]
        return [symbolic.row(options, _name(i, roles[i]), operand, None) for i, operand in reversed(operands)]

    return Heading("Value Stack", Children(named=computed(make)), hint="registers")


def _roles(names: Names, count: int) -> list[str | None]:
    try:
        # during an instruction, for example at a graph break, its operands may already be popped
        return [*stack_roles(names.translator), *[None] * count][:count]
    except Exception:  # unexpected bytecode: still show the values, by position
        return [None] * count


def _name(position: int, role: str | None) -> str:
    return f"[{position}] {role}" if role else f"[{position}]"
