"""Print the help."""

from __future__ import annotations

from itertools import groupby

from dynascope.terminal.commands import all_commands, command, find
from dynascope.terminal.session import Session


@command("help", "h", "?", usage="[COMMAND]")
def help_(session: Session, argument: str) -> None:
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
