"""`history`: show the lines that made, changed or guarded a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.console import Command
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_RECORDED = (
    "This line is past, and shown without histories: Continue (`continue` at the prompt) leads back to the stop."
)
_NONE = (
    "There is no history of `{}`: globals have none, nor what Dynamo has not read yet, nor numbers, strings and None "
    "in an object or container, whose own history tells how they change. Where nothing has one, the compile began "
    "before anything could stop: go back once (Restart Frame, `rframe` at the prompt), and there is one."
)


@Command(
    "history",
    usage="EXPRESSION | SCOPE/NAME",
    page="time-travel.md#the-history-of-a-value",
    missing="The history of what? `history NAME`",
    answers_with="lines",
)
def history(inspection: StopInspection, frame_id: int, argument: str) -> EvaluateResult:
    """Show each line that made, changed or guarded a value, oldest first: `history x`.

    It can be a name, an attribute, an element, or a row of a scope: `history Shapes/s0`, `history Guards/x`.
    Copies are left out, through calls and containers: a value's first line is where it was made.
    """
    from dynascope.agent.inspection.row_paths import rows_at
    from dynascope.agent.inspection.values import EvaluationError
    from dynascope.agent.tracing.time_travel.tape_line import TapeLineInspection

    if inspection.symbolic_number(frame_id) is None:
        raise EvaluationError("Only compile time has a history: here the program runs.")
    if isinstance(inspection, TapeLineInspection):
        raise EvaluationError(_RECORDED)
    rows = rows_at(inspection, frame_id, argument)
    below = [row for row in rows if row.name == "history" and row.variables_reference]
    if not below:
        raise EvaluationError(_NONE.format(argument))
    told = below[-1].value if " lines, " in below[-1].value else f"1 line, {below[-1].value}"
    return EvaluateResult(result=told, variables_reference=below[-1].variables_reference)
