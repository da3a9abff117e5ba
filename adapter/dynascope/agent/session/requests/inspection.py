"""Requests for frames, scopes, variables and evaluation. Served on the stopped thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope import console
from dynascope.agent.session.requests.registry import RequestFailed, serves, serves_at_stop
from dynascope.agent.session.session import AgentSession
from dynascope.wire.beyond_dap import FormattedStackBody
from dynascope.wire.dap import EvaluateResult, LocationsBody, ScopesBody, StepInTargetsBody, VariablesBody
from dynascope.wire.to_agent import Evaluate, FindStepInTargets, FormatStack, Locations, RunCommand, Scopes, Variables

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection


@serves_at_stop(FormatStack)
def format_stack(inspection: StopInspection, message: FormatStack) -> FormattedStackBody:
    from dynascope.agent.inspection.stop_inspection import formatted_stack

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
    from dynascope.agent.inspection.values import EvaluationError, NotSettable
    from dynascope.agent.session.what_if import try_value

    asked = console.asked(message.expression) if message.context == "repl" and message.assigned is None else None
    if asked is not None and not (asked.variable and inspection.has_name(message.frame_id, asked.variable)):
        try:
            return asked.command.run(inspection, message.frame_id, asked.argument)
        except console.BadCommand as error:
            raise EvaluationError(str(error)) from None
    try:
        return inspection.evaluate(message)
    except NotSettable:
        tried = try_value(inspection, message)
        if tried is None:
            raise
        return tried


@serves(RunCommand)
def run_command(session: AgentSession, message: RunCommand) -> EvaluateResult:
    try:
        return console.find(message.name).run(None, 0, message.argument)
    except console.BadCommand as error:
        raise RequestFailed(str(error)) from None


@serves_at_stop(Locations)
def locations(inspection: StopInspection, message: Locations) -> LocationsBody:
    return inspection.location(message.location_reference)
