"""`help`: list the commands of the debug console, or explain one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.console import Command, all_commands, find
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_BELOW = "`help COMMAND` explains one. Everything else is evaluated as Python."


@Command("help", needs="nothing", usage="[COMMAND]", words=lambda: [each.name for each in all_commands()])
def help_(inspection: StopInspection | None, frame_id: int, argument: str) -> EvaluateResult:
    """List the commands, or explain one."""
    if argument:
        entry = find("what if" if argument == "what" else argument)
        lines = [entry.written, f"  {entry.summary}", *(f"  {line}" for line in entry.details.splitlines())]
    else:
        lines = [*(f"{each.name:12} {each.summary}" for each in all_commands()), _BELOW]
    return EvaluateResult(result="\n".join(lines), variables_reference=0)
