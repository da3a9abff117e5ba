"""`why`: tell why a function is compiled again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.console import Command
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection


@Command("why", page="guards.md#why-it-is-compiled-again")
def why(inspection: StopInspection, frame_id: int, argument: str) -> EvaluateResult:
    """Tell why this function is compiled again: the guard that fails, and what helps.

    For each compile so far: what its guard wants and meets, and the line that needs it. Remedies are tried: Dynamo
    traces the frame on the side with each, and you are told whether the guard is gone. Nothing is changed. In a first
    compile, too: which guards will not hold, because the program itself shows other values.
    """
    from dynascope.agent.session.why import answer

    return answer(inspection)
