"""Find the rows below an expression or a row of a scope, such as `Shapes/s0`, at any kind of stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.wire.dap import Variable
from dynascope.wire.to_agent import Evaluate, Variables

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection


def rows_at(inspection: StopInspection, frame_id: int, text: str) -> list[Variable]:
    """Return the named rows below a scope, a row in it or a value. Raises EvaluationError."""
    head, _, path = text.partition("/")
    reference = scope_reference(inspection, frame_id, head)
    if reference is None:
        asked = Evaluate(id=0, thread_ident=0, frame_id=frame_id, expression=text, context="watch")
        reference = inspection.evaluate(asked).variables_reference
    elif path:
        reference = _below(inspection, reference, path, head)
    return rows_below(inspection, reference)


def scope_reference(inspection: StopInspection, frame_id: int, name: str) -> int | None:
    """Return the reference of a scope's rows; None where the frame has no scope of this name."""
    scopes = inspection.scopes(frame_id).scopes
    return next((each.variables_reference for each in scopes if each.name.casefold() == name.casefold()), None)


def rows_below(inspection: StopInspection, reference: int) -> list[Variable]:
    """Return the named rows of a reference; all of its rows where it has no named ones."""
    if not reference:
        return []
    named = inspection.variables(Variables(id=0, thread_ident=0, variables_reference=reference, filter="named"))
    return (
        named.variables
        or inspection.variables(Variables(id=0, thread_ident=0, variables_reference=reference)).variables
    )


def _below(inspection: StopInspection, reference: int, path: str, above: str) -> int:
    while path:
        # names can contain slashes (`L['a/b']`): the longest name that fits is taken
        rows = rows_below(inspection, reference)
        fitting = [each for each in rows if path == each.name or path.startswith(f"{each.name}/")]
        if not fitting:
            raise EvaluationError(f"There is no `{path}` below `{above}`.")
        chosen = max(fitting, key=lambda row: len(row.name))
        reference, path, above = chosen.variables_reference, path[len(chosen.name) + 1 :], f"{above}/{chosen.name}"
    return reference
