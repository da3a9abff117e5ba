"""Requests for frames, scopes, variables and evaluation. Served on the stopped thread."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from dynascope import console
from dynascope.agent.session.requests.registry import AT_STOP, RequestFailed, find_thread, serves, serves_at_stop
from dynascope.agent.session.session import AgentSession
from dynascope.wire.beyond_dap import FormattedStackBody
from dynascope.wire.dap import EvaluateResult, LocationsBody, StepInTargetsBody
from dynascope.wire.to_agent import Evaluate, FindStepInTargets, FormatStack, Locations, RunCommand, Scopes, Variables

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_SEARCHED = 2_000
"""The maximum number of rows in which a variable is looked for by its name (`setVariable`)."""


@serves_at_stop(FormatStack)
def format_stack(inspection: StopInspection, message: FormatStack) -> FormattedStackBody:
    from dynascope.agent.inspection.stop_inspection import formatted_stack

    return formatted_stack(inspection, message)


AT_STOP |= {kind: (find_thread, method) for kind, method in ((Scopes, "scopes"), (Variables, "variables"))}


@serves_at_stop(FindStepInTargets)
def find_step_in_targets(inspection: StopInspection, message: FindStepInTargets) -> StepInTargetsBody:
    return inspection.step_in_targets(message.frame_id)


@serves_at_stop(Evaluate)
def evaluate(inspection: StopInspection, message: Evaluate) -> EvaluateResult:
    from dynascope.agent.inspection.values import EvaluationError, NotSettable

    asked = console.asked(message.expression) if message.context == "repl" and message.assigned is None else None
    if asked is not None and not (asked.variable and inspection.has_name(message.frame_id, asked.variable)):
        try:
            asked.command.check(asked.argument)
            return asked.command.answer(inspection, message.frame_id, asked.argument)
        except console.BadCommand as error:
            raise EvaluationError(str(error)) from None
    try:
        return inspection.evaluate(message)
    except NotSettable:
        tried = _tried(inspection, message)
        if tried is None:
            raise
        return tried


def _tried(inspection: StopInspection, request: Evaluate) -> EvaluateResult | None:
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


@serves(RunCommand)
def run_command(session: AgentSession, message: RunCommand) -> EvaluateResult:
    try:
        command = console.find(message.name)
        command.check(message.argument)
        return command.answer(None, 0, message.argument)
    except console.BadCommand as error:
        raise RequestFailed(str(error)) from None


@serves_at_stop(Locations)
def locations(inspection: StopInspection, message: Locations) -> LocationsBody:
    return inspection.location(message.location_reference)
