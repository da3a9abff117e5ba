"""`what if`: try what else could be compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.console import Command
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_NOTHING_TO_CHANGE = "Only in a frame that Dynamo traces can something else be compiled, and this is none."
_RECORDED = (
    "Nothing can be tried here: this line is past. Go forward to the stop itself, with Continue "
    "(`continue` at the prompt)."
)


@Command(
    "what if",
    usage="[CHANGE | keep | undo]",
    page="time-travel.md#what-if",
    words=lambda: ("graph break", "hint", "keep", "undo", "config."),
)
def what_if(inspection: StopInspection, frame_id: int, argument: str) -> EvaluateResult:
    """Tell what would be compiled with a change: `what if x.shape[0] dynamic`, `what if n = 8`.

    Dynamo traces the frame to its end with and without the change, and gives no graph to a backend. The program then
    compiles without it, unless you say `what if keep`. `what if` lists the changes that can be tried.
    """
    from dynascope.agent.inspection.values import EvaluationError
    from dynascope.agent.tracing.time_travel.tape_line import TapeLineInspection

    frame = inspection.symbolic_number(frame_id)
    if frame is not None and isinstance(inspection, TapeLineInspection):
        raise EvaluationError(_RECORDED)
    if inspection.what_if is None or frame is None:
        raise EvaluationError(_NOTHING_TO_CHANGE)
    return inspection.result(inspection.what_if.answer(argument, frame))
