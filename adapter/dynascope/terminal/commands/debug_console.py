"""Ask the debug console's own commands, which the list of the console declares."""

from __future__ import annotations

import re
from typing import Any

from dynascope import console
from dynascope.terminal.commands import command
from dynascope.terminal.commands.inspection import show_rows
from dynascope.terminal.selection import PAGE, CommandError
from dynascope.terminal.session import Session
from dynascope.wire.dap import EvaluateResult, Variable

_ROW = re.compile(r"(?:(.*)\s)?#(\S+)")
_ALL = 10_000
"""As many rows as the agent sends at once."""


def _add(entry: console.Command) -> None:
    """Add a command of the console to those of the prompt, under the first word of its name."""
    word, _, rest = entry.name.partition(" ")

    def run(session: Session, argument: str) -> None:
        _ask(session, entry, argument.removeprefix(rest).strip())

    run.__doc__ = f"{entry.summary}\n\n{entry.details}"
    usage = f"{rest} {entry.usage}".strip() + (" [#ROW]" if entry.has_rows else "")
    command(word, usage=usage, needs_stop=entry.needs == "stop", missing=entry.missing)(run)


def _ask(session: Session, entry: console.Command, argument: str) -> None:
    """Print what the console answers, or go back to the line of a row: `history x #2`."""
    row = _ROW.fullmatch(argument) if entry.has_rows else None
    argument = (row[1] or "").strip() if row is not None else argument
    if entry.place_after and argument.startswith(entry.place_after) and session.current_file is not None:
        place = argument.removeprefix(entry.place_after).strip()
        argument = f"{entry.place_after}{session.current_file}:{place}" if place.isdecimal() else argument
    line = f"{entry.name} {argument}" if argument else f"{entry.name}?"
    asked: dict[str, Any] = {"expression": line, "context": "repl"}
    if entry.needs == "stop":
        asked["frameId"] = session.need_frame().id
    result = session.ask("evaluate", asked, EvaluateResult)
    rows = (
        session.children(result.variables_reference, 0, _ALL) if entry.has_rows and result.variables_reference else []
    )
    if row is not None:
        _go_to(session, f"{entry.name} {argument}".strip(), rows, row[2])
        return
    session.printer.say(result.result)
    if result.variables_reference and entry.has_rows:
        # the lines of a history are told whole; of other rows, those that are missing are asked for with a text
        pages = len(rows) > PAGE and rows[0].target_id is None
        show_rows(session, rows[:PAGE] if pages else rows, PAGE if pages else None)


def _go_to(session: Session, asked: str, rows: list[Variable], number: str) -> None:
    """Go back to the line of the row with this number. Raises CommandError."""
    if not number.isdecimal() or not 0 < int(number) <= len(rows):
        raise CommandError(f"`{asked}` has {len(rows)} row{'' if len(rows) == 1 else 's'}, and none is #{number}")
    target = rows[int(number) - 1].target_id
    if target is None:
        raise CommandError(f"row #{number} of `{asked}` is no line to go back to")
    session.resume("goto", {"targetId": target})


for _entry in console.all_commands():
    if _entry.needs != "nothing":
        _add(_entry)
