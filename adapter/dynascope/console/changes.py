"""`changes`: show what the trace has added since a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.console import Command
from dynascope.wire.beyond_dap import CHANGES, CHECKPOINT, LINE, PREVIOUS_STOP
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_RUNS = (
    "Changes are those of a trace, and here the program runs: at the next compile-time stop of a compile that has "
    "stopped before, `changes` tells what Dynamo has traced since."
)
_NOT_THERE = {
    "": "Nothing has stopped before in this compile: `changes line` tells what this line has done.",
    "line": "Nothing is recorded of this line: `changes` tells what has changed since the previous stop.",
}
_NO_CHECKPOINT = "This compile has no checkpoint `{name}`: `checkpoint {name}` sets one at this moment."


@Command(
    "changes",
    usage="[line | CHECKPOINT]",
    page="time-travel.md#what-has-changed-since",
    words=lambda: ("line",),
    answers_with="lines",
)
def changes(inspection: StopInspection, frame_id: int, argument: str) -> EvaluateResult:
    """Show what the trace has added since the previous stop.

    Names, values changed in place, guards, decisions on symbols, nodes, modules, global state. `changes line`: since
    the line of this frame began, with all that it calls. `changes NAME`: since the checkpoint of this name
    (`checkpoint NAME`).
    """
    from dynascope.agent.inspection.row_paths import rows_at
    from dynascope.agent.inspection.values import EvaluationError

    if inspection.symbolic_number(frame_id) is None:
        raise EvaluationError(_RUNS)
    title = {"": PREVIOUS_STOP, "line": LINE}.get(argument, CHECKPOINT.format(name=argument))
    found = [row for row in rows_at(inspection, frame_id, CHANGES) if row.name == title]
    if not found:
        raise EvaluationError(_NOT_THERE.get(argument, _NO_CHECKPOINT).format(name=argument))
    return EvaluateResult(result=f"{title}, {found[0].value}", variables_reference=found[0].variables_reference)
