"""`checkpoint`: name a moment of a compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.console import BadCommand, Command
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_NO_HISTORY = "What changes is recorded only where Dynamo traces, in compiles that begin once something may stop."


@Command(
    "checkpoint", usage="NAME", page="time-travel.md#what-has-changed-since", missing="Which name? `checkpoint NAME`"
)
def checkpoint(inspection: StopInspection, frame_id: int, argument: str) -> EvaluateResult:
    """Name this moment of the compile: `changes NAME` tells later what has changed since."""
    from dynascope.agent.inspection.values import EvaluationError

    if not argument.isidentifier():
        raise BadCommand(f"A checkpoint's name is one word of letters and digits, not `{argument}`.")
    names = inspection.names_of(frame_id) if inspection.symbolic_number(frame_id) is not None else None
    if names is None or names.history is None:
        raise EvaluationError(_NO_HISTORY)
    names.history.name_checkpoint(argument)
    where = f"in the scope Changes, and by `changes {argument}`"
    return EvaluateResult(result=f"What changes from now on is told {where}.", variables_reference=0)
