"""`what if`: try what else could be compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.console import Command
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection


@Command(
    "what if",
    usage="[CHANGE | keep | undo]",
    page="time-travel.md#what-if",
    words=lambda: ("graph break", "hint", "keep", "undo", "config."),
)
def what_if(inspection: StopInspection, frame_id: int, argument: str) -> EvaluateResult:
    """Tell what would be compiled with a change: `what if x.shape[0] dynamic`, `what if n = 8`.

    Dynamo traces the frame to its end with and without the change, and gives no graph to a backend. The program then
    compiles plainly, unless you say `what if keep`. `what if` lists the changes that can be tried.
    """
    from dynascope.agent.session.what_if import answer

    return answer(inspection, frame_id, argument)
