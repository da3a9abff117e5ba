"""Answer `what if` of the debug console, and values that a client sets. On the stopped thread."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from dynascope.agent.inspection.values import EvaluationError
from dynascope.wire.dap import EvaluateResult
from dynascope.wire.to_agent import Evaluate

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_NOTHING_TO_CHANGE = "Only in a frame that Dynamo traces can something else be compiled, and this is none."
_RECORDED = (
    "Nothing can be tried here: this line is shown as it was recorded. Go forward to the stop itself, with Continue "
    "(`continue` at the prompt)."
)
_SEARCHED = 2_000
"""The maximum number of rows searched for the one that a client sets."""


def answer(inspection: StopInspection, frame_id: int, question: str) -> EvaluateResult:
    """Answer a question about a symbolic frame. Raises EvaluationError."""
    from dynascope.agent.tracing.time_travel.tape_line import TapeLineInspection

    frame = inspection.symbolic_number(frame_id)
    if frame is not None and isinstance(inspection, TapeLineInspection):
        raise EvaluationError(_RECORDED)
    if inspection.what_if is None or frame is None:
        raise EvaluationError(_NOTHING_TO_CHANGE)
    return inspection.result(inspection.what_if.answer(question, frame))


def try_value(inspection: StopInspection, request: Evaluate) -> EvaluateResult | None:
    """Try the value that a client sets; return the present one, or None if none can be tried.

    Raises EvaluationError.
    """
    frame_id, target = request.frame_id, request.expression
    if request.variables_reference is not None:
        children, names = inspection.children(request.variables_reference)
        if names is None:
            return None
        rows = children.all_rows()
        found = islice(rows.make(names.options(), 0, min(rows.count, _SEARCHED)), _SEARCHED)
        target = next((row.path for row in found if row.name == request.expression), None) or target
        frame_id = inspection.frame_id_of(names.translator)
    frame = inspection.symbolic_number(frame_id)
    if inspection.what_if is None or frame is None:
        return None
    row = inspection.what_if.try_value(target, request.assigned or "", frame)
    return None if row is None else inspection.result(row)
