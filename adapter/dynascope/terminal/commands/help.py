"""Print the help, and ask the debug console's own commands, which the list of the console declares."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from dynascope import console
from dynascope.terminal.client import CommandError
from dynascope.terminal.commands import all_commands, command, find
from dynascope.terminal.commands.inspection import show_rows
from dynascope.terminal.selection import PAGE
from dynascope.terminal.session import TerminalSession
from dynascope.wire.dap import EvaluateResult, Variable

_ROW = re.compile(r"(?:(.*)\s)?#(\S+)")
_ALL = 10_000
"""As many rows as the agent sends at once."""


@command("help", "h", "?", usage="[COMMAND]")
def help_(session: TerminalSession, argument: str) -> None:
    """List the commands, or explain one."""
    say = session.printer.say
    if argument:
        entry = find(argument)
        say(entry.usage, "bold")
        say(f"  {entry.summary}")
        for line in entry.details.splitlines():
            say(f"  {line.strip()}")
        if entry.names[1:]:
            say(f"  also: {', '.join(entry.names[1:])}", "dim")
        return
    for group, members in groupby(all_commands(), key=lambda entry: entry.group):
        say(group.replace("_", " "), "bold")
        for entry in members:
            say(f"  {', '.join(entry.names):28} {entry.summary}")
    say("An empty line repeats a step. Unlisted words are not evaluated: `print EXPRESSION` is.", "dim")


def _add(entry: console.Command) -> None:
    """Add a command of the console to those of the prompt, under the first word of its name."""
    word, _, rest = entry.name.partition(" ")
    usage, details = f"{rest} {entry.usage}".strip(), entry.details
    if entry.answers_with == "lines":
        usage, details = f"{usage} [#ROW]", f"{details}\n`#2` at the end goes back to the line of the second row."

    def run(session: TerminalSession, argument: str) -> None:
        first, _, others = argument.partition(" ")
        _ask(session, entry, others.strip() if rest and first == rest else argument)

    run.__doc__ = f"{entry.summary}\n\n{details}"
    command(word, usage=usage, needs_stop=entry.needs == "stop", missing=entry.missing)(run)


def _ask(session: TerminalSession, entry: console.Command, argument: str) -> None:
    """Print what the console answers, or go back to the line of a row: `history x #2`."""
    number = _ROW.fullmatch(argument) if entry.answers_with == "lines" else None
    argument = (number[1] or "").strip() if number is not None else argument
    if entry.place_after and argument.startswith(entry.place_after) and session.current_file is not None:
        place = argument.removeprefix(entry.place_after).strip()
        argument = f"{entry.place_after}{session.current_file}:{place}" if place.isdecimal() else argument
    line = f"{entry.name} {argument}".rstrip()
    asked: dict[str, Any] = {"expression": f"{line}?", "context": "repl"}
    if entry.needs == "stop":
        asked["frameId"] = session.need_frame().id
    result = session.ask("evaluate", asked, EvaluateResult)
    reference = 0 if entry.answers_with == "text" else result.variables_reference
    count = _ALL if entry.answers_with == "lines" else PAGE
    rows = session.children(reference, 0, count) if reference else []
    if number is not None:
        _go_to(session, line, rows, number[2])
        return
    session.printer.say(result.result)
    if reference:
        show_rows(session, rows, PAGE if len(rows) == PAGE and entry.answers_with == "rows" else None)


def _go_to(session: TerminalSession, asked: str, rows: list[Variable], number: str) -> None:
    """Go back to the line of the row with this number. Raises CommandError."""
    if not number.isdecimal() or not 0 < int(number) <= len(rows):
        raise CommandError(f"`{asked}` has {len(rows)} row{'' if len(rows) == 1 else 's'}, and none is #{number}")
    session.resume("goto", {"targetId": rows[int(number) - 1].target_id})


for _entry in console.all_commands():
    if _entry.needs != "nothing":
        _add(_entry)
