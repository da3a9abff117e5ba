"""Requests for frames, scopes, variables and evaluation. Served on the stopped thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.agent.session.requests.registry import serves_at_stop
from dynascope.wire.checkpoint import checkpoint_name
from dynascope.wire.dap import (
    EvaluateResult,
    FormattedStackBody,
    LocationsBody,
    ScopesBody,
    StepInTargetsBody,
    VariablesBody,
)
from dynascope.wire.guard_question import guard_question
from dynascope.wire.to_agent import Evaluate, FindStepInTargets, FormatStack, Locations, Scopes, Variables
from dynascope.wire.why_question import asks_why

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection


@serves_at_stop(FormatStack)
def format_stack(inspection: StopInspection, message: FormatStack) -> FormattedStackBody:
    from dynascope.agent.inspection.frames.stack_format import formatted_stack

    return formatted_stack(inspection, message)


@serves_at_stop(Scopes)
def scopes(inspection: StopInspection, message: Scopes) -> ScopesBody:
    return inspection.scopes(message.frame_id)


@serves_at_stop(Variables)
def variables(inspection: StopInspection, message: Variables) -> VariablesBody:
    return inspection.variables(message)


@serves_at_stop(FindStepInTargets)
def find_step_in_targets(inspection: StopInspection, message: FindStepInTargets) -> StepInTargetsBody:
    return inspection.step_in_targets(message.frame_id)


@serves_at_stop(Evaluate)
def evaluate(inspection: StopInspection, message: Evaluate) -> EvaluateResult:
    from dynascope.agent.inspection.values.errors import NotSettable
    from dynascope.agent.session import guard_answers
    from dynascope.agent.session.requests import checkpoints
    from dynascope.agent.session.what_if import answer, try_value
    from dynascope.agent.tracing.what_if.asked import question

    checkpoint = checkpoint_name(message.expression) if message.context == "repl" else None
    if checkpoint is not None:
        return checkpoints.name(inspection, message.frame_id, checkpoint)
    is_typed = message.context == "repl" and message.assigned is None
    if is_typed and asks_why(message.expression) and not _means_variable(inspection, message):
        from dynascope.agent.session import why

        return why.answer(inspection)
    guards = guard_question(message.expression) if message.context == "repl" else None
    if guards is not None:
        return guard_answers.answer(inspection, message.frame_id, guards)
    asked = question(message)
    if asked is not None:
        return answer(inspection, message.frame_id, asked)
    try:
        return inspection.evaluate(message)
    except NotSettable:
        tried = try_value(inspection, message)
        if tried is None:
            raise
        return tried


def _means_variable(inspection: StopInspection, message: Evaluate) -> bool:
    """Whether `why` is a variable of the frame's code."""
    return not asks_why(message.expression, is_name=inspection.has_name(message.frame_id, "why"))


@serves_at_stop(Locations)
def locations(inspection: StopInspection, message: Locations) -> LocationsBody:
    return inspection.location(message.location_reference)
