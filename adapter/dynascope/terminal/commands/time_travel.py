"""Go back in the compile: the lines before, and the breakpoints before."""

from __future__ import annotations

from dynascope.terminal.commands import command
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session


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


def _step_back(session: Session, argument: str, granularity: str) -> None:
    session.need_frame()
    if argument and not argument.isdecimal():
        raise CommandError(f"how many times? A number, not `{argument}`")
    for _ in range(int(argument or 1)):
        if session.frames:
            session.resume("stepBack", {"granularity": granularity})
