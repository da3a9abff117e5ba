"""`forms`: show what was made of each graph, and of a line of the program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dynascope.console import BadCommand, Command
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_FORMS = re.compile(r"all|from\s+.*\S|\S*\d/\S*\d(?:\s.*\S)?")


@Command(
    "forms",
    needs="program",
    usage="[all | ID | ID FORM[:LINE] | from FILE:LINE]",
    page="later-forms.md",
    words=lambda: ("all", "from "),
    place_after="from ",
)
def forms(inspection: StopInspection | None, frame_id: int, argument: str) -> EvaluateResult:
    """Show what AOTAutograd and Inductor made of each graph, and of a line of yours.

    `forms` lists joint, forward, backward and post-grad graphs and output code, `forms 0/0` those of one compile.
    `forms 0/0 saved values` tells which tensors are saved for the backward, and why.
    `forms 0/0 backward graph` shows one with its lines' numbers, and `forms 0/0 backward graph:12` the lines of your
    program that line 12 is from. `forms from model.py:20` shows all that was made of your line; at the prompt
    `forms from 20` is that line of the current file.
    """
    from dynascope.agent.session.session import current_session

    if argument and not _FORMS.fullmatch(argument):
        raise BadCommand("Ask `forms`, `forms 0/0`, `forms 0/0 backward graph:12` or `forms from model.py:20`.")
    session = current_session()
    assert session is not None  # who asks is connected to it
    return EvaluateResult(result=session.loaded_sources.forms(argument or "all"), variables_reference=0)
