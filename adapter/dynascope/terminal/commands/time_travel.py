"""Go back in the compile: the lines before, and the breakpoints before."""

from __future__ import annotations

from dynascope.terminal.breakpoints.locations import BadLocation, parse
from dynascope.terminal.commands import command
from dynascope.terminal.commands.inspection import resolve
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session
from dynascope.wire.dap import GotoTargetsBody

_ALL = 10_000
"""As many rows as the agent sends at once."""


@command("back", "rn", usage="[COUNT]", repeats=True, needs_stop=True)
def back(session: Session, argument: str) -> None:
    """Go back to the line before this one, in this frame or its caller; at compile time only.

    Dynamo traces the frame again from its start, silently up to that line. What you see there is live: evaluate, set
    breakpoints, step forward again.
    """
    _step_back(session, argument, "line")


@command("backi", "rni", usage="[COUNT]", repeats=True, needs_stop=True)
def backi(session: Session, argument: str) -> None:
    """Go back by one instruction that Dynamo traces; at compile time only."""
    _step_back(session, argument, "instruction")


@command("rcontinue", "rc", repeats=True, needs_stop=True)
def reverse_continue(session: Session, argument: str) -> None:
    """Go back to the previous breakpoint in this compile, or to the compile's first line."""
    session.need_frame()
    session.resume("reverseContinue")


@command("rframe", needs_stop=True)
def restart_frame(session: Session, argument: str) -> None:
    """Go back to the first line of this call (`up` and `down` select it); at compile time only."""
    frame = session.need_frame()
    session.resume("restartFrame", {"frameId": frame.id})


@command("history", usage="EXPRESSION | SCOPE/NAME", needs_stop=True, missing="the history of what? `history NAME`")
def history(session: Session, argument: str) -> None:
    """Show each line of this compile that made, changed or guarded a value, oldest first: `history x`.

    It can be a name, an attribute, an element, or a row of a scope: `history Shapes/s0`, `history Guards/L['x']`.
    Copies are left out, through calls and containers: a value's first line is where it was made.
    """
    _, reference, _ = resolve(session, argument)
    rows = session.children(reference, 0, _ALL, "named") or session.children(reference, 0, _ALL) if reference else []
    below = [row for row in rows if row.name == "history" and row.variables_reference]
    if not below:
        raise CommandError(f"no history of `{argument}` was recorded in this compile")
    session.printer.variables(session.children(below[-1].variables_reference, 0, _ALL))


@command("jump", "j", usage="LINE | FILE:LINE", needs_stop=True, missing="to which line? `jump 12`, `jump FILE:12`")
def jump(session: Session, argument: str) -> None:
    """Go back to where Dynamo last began a line; at run time, make it the next line to run.

    At compile time the line may be one of a function that Dynamo has left by now. To go on to a line: `tbreak LINE`,
    then `continue`.
    """
    session.need_frame()
    try:
        location, _ = parse(argument, session.current_file)
    except BadLocation as error:
        raise CommandError(str(error)) from error
    if location.path is None:
        raise CommandError(f"`{argument}` is not a line: `jump 12`, `jump FILE:12`")
    where = {"source": {"path": str(location.path)}, "line": location.line}
    targets = session.ask("gotoTargets", where, GotoTargetsBody).targets
    if not targets:
        raise CommandError(f"there is nothing to jump to in {location}")
    session.resume("goto", {"targetId": targets[0].id})


def _step_back(session: Session, argument: str, granularity: str) -> None:
    session.need_frame()
    if argument and not argument.isdecimal():
        raise CommandError(f"how many times? A number, not `{argument}`")
    for _ in range(int(argument or 1)):
        if session.frames:
            session.resume("stepBack", {"granularity": granularity})
