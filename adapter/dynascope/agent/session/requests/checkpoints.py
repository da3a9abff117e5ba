"""Name a moment of a compile in the debug console: what has changed since then is told later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_NO_HISTORY = "What changes is recorded only where Dynamo traces, in compiles that begin once something may stop."


def name(inspection: StopInspection, frame_id: int, checkpoint: str) -> EvaluateResult:
    """Name the present moment. Raises EvaluationError where nothing is recorded."""
    names = inspection.names_of(frame_id) if inspection.symbolic_number(frame_id) is not None else None
    if names is None or names.history is None:
        raise EvaluationError(_NO_HISTORY)
    names.history.name_checkpoint(checkpoint)
    where = f"in the scope Changes, at the prompt with `changes {checkpoint}`"
    return EvaluateResult(result=f"What changes from now on is told {where}.", variables_reference=0)
