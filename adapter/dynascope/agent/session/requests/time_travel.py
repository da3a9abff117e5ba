"""Requests to go back in a compile. Served on the stopped thread, which goes back when it is resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.agent.session.requests.registry import serves_at_stop
from dynascope.wire.to_agent import PrepareTravel

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_NOT_HERE = "Only compile time goes back, and at this stop Dynamo traces no frame."
_NOT_SYMBOLIC = "Only compile time goes back: this frame runs, and what it did stays done."


@serves_at_stop(PrepareTravel)
def prepare_travel(inspection: StopInspection, message: PrepareTravel) -> None:
    from dynascope.agent.inspection.values.errors import EvaluationError

    plan = inspection.travel_plan
    if plan is None:
        raise EvaluationError(_NOT_HERE)
    match message.command:
        case "stepBack":
            plan.step_back(message.granularity)
        case "reverseContinue":
            plan.reverse_continue()
        case "restartFrame":
            symbolic = [frame.id for frame in inspection.frames[: inspection.symbolic_frames]]
            if message.frame_id not in symbolic:
                raise EvaluationError(_NOT_SYMBOLIC)
            plan.restart_frame(symbolic.index(message.frame_id))
