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
        one = find(argument)
        say(one.usage, "bold")
        say(f"  {one.summary}")
        for line in one.details.splitlines():
            say(f"  {line.strip()}")
        if one.names[1:]:
            say(f"  also: {', '.join(one.names[1:])}", "dim")
        return
    for group, members in groupby(all_commands(), key=lambda one: one.group):
        say(group.replace("_", " "), "bold")
        for one in members:
            say(f"  {', '.join(one.names):28} {one.summary}")
    say("An empty line repeats a step. Unlisted words are not evaluated: `print EXPRESSION` is.", "dim")
