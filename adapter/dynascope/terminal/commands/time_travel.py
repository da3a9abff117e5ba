"""Go back in the compile: to lines, breakpoints and events before."""

from __future__ import annotations

from pathlib import Path

from dynascope.terminal.client import CommandError
from dynascope.terminal.commands import command
from dynascope.terminal.commands.execution import repeat
from dynascope.terminal.locations import display_path, parse
from dynascope.terminal.session import TerminalSession
from dynascope.wire.beyond_dap import CompareBody, TimelineBody, TimelineEvent
from dynascope.wire.dap import GotoTargetsBody

_MARK = "▶"
"""What the row of the first difference begins with."""
_AROUND = 12
"""How many rows of two compiles are shown before and after it."""
_ALL = 10_000
"""As many rows and events as the agent sends at once."""


@command("back", "rn", usage="[COUNT]", repeats=True, needs_stop=True, resumes=True)
def back(session: TerminalSession, argument: str) -> None:
    """Go back to the line before this one, in this frame or its caller; at compile time only.

    Dynamo traces the frame again from its start, silently up to that line. What you see there is live: evaluate, set
    breakpoints, step forward again.
    """
    repeat(session, argument, "stepBack", "line")


@command("backi", "rni", usage="[COUNT]", repeats=True, needs_stop=True, resumes=True)
def backi(session: TerminalSession, argument: str) -> None:
    """Go back by one instruction that Dynamo traces; at compile time only."""
    repeat(session, argument, "stepBack", "instruction")


@command("rcontinue", "rc", repeats=True, needs_stop=True, resumes=True)
def reverse_continue(session: TerminalSession, argument: str) -> None:
    """Go back to the previous breakpoint in this compile, or to the compile's first line."""
    session.need_frame()
    session.resume("reverseContinue")


@command("rframe", needs_stop=True, resumes=True)
def restart_frame(session: TerminalSession, argument: str) -> None:
    """Go back to the first line of this call (`up` and `down` select it); at compile time only."""
    frame = session.need_frame()
    session.resume("restartFrame", {"frameId": frame.id})


@command(
    "jump",
    "j",
    "goto",
    usage="LINE | FILE:LINE | #EVENT",
    needs_stop=True,
    missing="to where? `jump 12`, `jump FILE:12`, or `jump #3` for event 3 of `timeline`",
    resumes=True,
)
def jump(session: TerminalSession, argument: str) -> None:
    """Go back to where Dynamo last began a line, or to an event; at run time, set the next line.

    At compile time the line may be one of a function that Dynamo has left by now. To go on to a line: `tbreak LINE`,
    then `continue`. `timeline` lists the events, and marks with → those to which there is a way, back and forth.
    """
    session.need_frame()
    event = argument.startswith("#")
    session.resume("goto", {"targetId": _event(session, argument[1:]) if event else _line(session, argument)})


@command("timeline", usage="[COUNT]", needs_stop=True)
def timeline(session: TerminalSession, argument: str) -> None:
    """List what happened in compiles: their begin and end, restarts, breaks, recompiles, stops.

    The newest 30, or COUNT. `→` marks those to which `jump #EVENT` leads from this stop.
    """
    if argument and not argument.isdecimal():
        raise CommandError(f"how many? A number, not `{argument}`")
    events = _events(session, int(argument or 30))
    if not events:
        session.printer.say("nothing has been compiled yet")
    for event in events:
        mark = "→" if event.target_id is not None else " "
        compile_id = f"[{event.compile_id}]" if event.compile_id else ""
        path = Path(event.source.path) if event.source is not None and event.source.path else None
        place = f"  {display_path(path)}:{event.line}" if path is not None else ""
        head = f"{mark}#{event.number:<4} {event.seconds:8.3f} s  {compile_id:8} {event.kind:14}"
        session.printer.say(f"{head}  {event.text}{place}")


@command("compare", usage="[[ID] ID]", needs_stop=True)
def compare(session: TerminalSession, argument: str) -> None:
    """Show what first differs between two compiles of a function: `compare 0/0 0/1`.

    Without ids it is the newest recompile, and the compile whose guard failed; `compare 0/2` is that one and what it
    replaces. `0/0_0` and `0/0_1` are attempts. `timeline` lists the ids.
    """
    ids = argument.split()
    if len(ids) > 2:
        raise CommandError("which two? `compare 0/0 0/1`")
    names = dict(zip(("right", "left"), reversed(ids), strict=False))
    body = session.ask("dynascopeCompare", names, CompareBody)
    marked = next((number for number, row in enumerate(body.columns) if row.startswith(_MARK)), 2)
    shown = dict.fromkeys([*range(2), *range(max(2, marked - _AROUND), marked + _AROUND)])
    for row in [*body.summary, "", *(body.columns[number] for number in shown if number < len(body.columns))]:
        session.printer.say(row)


def _line(session: TerminalSession, argument: str) -> int:
    """Return the id of the target of a line. Raises CommandError."""
    location, _ = parse(argument, session.current_file)
    if location.path is None:
        raise CommandError(f"`{argument}` is not a line: `jump 12`, `jump FILE:12`")
    where = {"source": {"path": str(location.path)}, "line": location.line}
    targets = session.ask("gotoTargets", where, GotoTargetsBody).targets
    if not targets:
        raise CommandError(f"there is nothing to jump to in {location}")
    return targets[0].id


def _event(session: TerminalSession, number: str) -> int:
    """Return the id of the target of an event. Raises CommandError."""
    found = [event for event in _events(session, _ALL) if str(event.number) == number]
    if not found:
        raise CommandError(f"there is no event #{number}; `timeline` lists them")
    if found[0].target_id is None:
        raise CommandError(
            f"there is no way from this stop to event #{number}: its attempt was not recorded, or traced again with "
            "a change; `timeline` marks with → where there is one"
        )
    return found[0].target_id


def _events(session: TerminalSession, count: int) -> list[TimelineEvent]:
    return session.ask("dynascopeTimeline", {"count": count}, TimelineBody).events
