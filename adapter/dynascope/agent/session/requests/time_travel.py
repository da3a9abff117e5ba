"""Requests to go back in a compile, and for the events to which one can go.

Going back is prepared on the stopped thread, which goes back when it is resumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynascope.agent.program.source_lines import lines_with_code
from dynascope.agent.program.user_code import real_path
from dynascope.agent.session.requests.registry import serves, serves_at_stop
from dynascope.agent.session.session import AgentSession
from dynascope.wire.beyond_dap import FIRST_AGENT_ID, TimelineBody, goto_target_id
from dynascope.wire.dap import GotoTarget, GotoTargetsBody
from dynascope.wire.to_agent import FindGotoTargets, PrepareTravel, Timeline

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_NOT_HERE = "Only compile time goes back, and at this stop Dynamo traces no frame."
_NOT_SYMBOLIC = "Only compile time goes back: this frame runs, and what it did stays done."


@serves_at_stop(PrepareTravel)
def prepare_travel(inspection: StopInspection, message: PrepareTravel) -> None:
    from dynascope.agent.inspection.values import EvaluationError

    plan = _plan(inspection)
    match message.command:
        case "stepBack":
            plan.step_back(message.granularity)
        case "reverseContinue":
            plan.reverse_continue()
        case "restartFrame":
            frame = inspection.symbolic_number(message.frame_id)
            if frame is None:
                raise EvaluationError(_NOT_SYMBOLIC)
            plan.restart_frame(frame)
        case "goto":
            plan.go_to((message.target_id or 0) - FIRST_AGENT_ID)


@serves_at_stop(FindGotoTargets)
def find_goto_targets(inspection: StopInspection, message: FindGotoTargets) -> GotoTargetsBody:
    plan, path = _plan(inspection), real_path(message.path)
    code = lines_with_code(path)
    line = (code and code.line_for(message.line)) or message.line
    position, function = plan.line_before(path, line)
    return GotoTargetsBody(
        targets=[GotoTarget(id=goto_target_id(position), label=f"line {line} of {function}", line=line)]
    )


@serves(Timeline)
def timeline(session: AgentSession, message: Timeline) -> TimelineBody:
    return session.timeline.newest(message.count)


def _plan(inspection: StopInspection) -> Any:
    from dynascope.agent.inspection.values import EvaluationError

    if inspection.travel_plan is None:
        raise EvaluationError(_NOT_HERE)
    return inspection.travel_plan
