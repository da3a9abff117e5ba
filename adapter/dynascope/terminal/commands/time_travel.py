"""Go back in the compile: to lines, breakpoints and events before."""

from __future__ import annotations

from pathlib import Path

from dynascope.terminal.breakpoints.locations import BadLocation, display_path, parse
from dynascope.terminal.commands import command
from dynascope.terminal.commands.inspection import resolve
from dynascope.terminal.printing import is_symbolic
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session
from dynascope.wire.checkpoint import CHANGES, CHECKPOINT, LINE, PREVIOUS_STOP, checkpoint_name
from dynascope.wire.dap import CompareBody, GotoTargetsBody, TimelineBody, TimelineEvent, Variable

_MARK = "▶"
"""What the row of the first difference begins with."""
_AROUND = 12
"""How many rows of two compiles are shown before and after it."""
_ALL = 10_000
"""As many rows and events as the agent sends at once."""


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


@command(
    "history", usage="EXPRESSION | SCOPE/NAME [#ROW]", needs_stop=True, missing="the history of what? `history NAME`"
)
def history(session: Session, argument: str) -> None:
    """Show each line that made, changed or guarded a value, oldest first: `history x`.

    It can be a name, an attribute, an element, or a row of a scope: `history Shapes/s0`, `history Guards/L['x']`.
    Copies are left out, through calls and containers: a value's first line is where it was made. `history x #2` goes
    back to the line of the second row.
    """
    frame = session.need_frame()
    if not is_symbolic(frame):
        raise CommandError("only compile time has a history: here the program runs")
    if frame.name.endswith("recorded]"):
        raise CommandError(
            "this line is shown as it was recorded, without histories: `continue` leads back to the stop"
        )
    argument, _, number = argument.partition(" #")
    _, reference, _ = resolve(session, argument.strip())
    rows = session.children(reference, 0, _ALL, "named") or session.children(reference, 0, _ALL) if reference else []
    below = [row for row in rows if row.name == "history" and row.variables_reference]
    if not below:
        raise CommandError(
            f"no history of `{argument}`: globals have none, nor what Dynamo has not read yet, nor numbers, strings and"
            " None in an object or container, whose own history tells how they change. Where nothing has one, the"
            " compile began before anything could stop: go back once (`rframe`), and there is"
        )
    lines = session.children(below[-1].variables_reference, 0, _ALL)
    _show_or_go_to(session, lines, f"history {argument}", number)


@command("changes", usage="[line | CHECKPOINT] [#ROW]", needs_stop=True)
def changes(session: Session, argument: str) -> None:
    """Show what the trace has added since the previous stop.

    Names, values changed in place, guards, decisions on symbols, nodes, modules, global state. `changes line`: since
    the line of this frame began, with all that it calls. `changes NAME`: since the checkpoint of this name
    (`checkpoint NAME`). `changes #2` goes back to the line of the second row.
    """
    if not is_symbolic(session.need_frame()):
        raise CommandError(
            "changes are those of a trace, and here the program runs: at the next compile-time stop of a compile that "
            "has stopped before, `changes` tells what Dynamo has traced since"
        )
    moment, _, number = f" {argument}".partition(" #")
    moment = moment.strip()
    title = {"": PREVIOUS_STOP, "line": LINE}.get(moment, CHECKPOINT.format(name=moment))
    if not moment and all(row.name != title for row in _rows_of_changes(session)):
        raise CommandError("nothing has stopped before in this compile: `changes line` tells what this line has done")
    value, reference, _ = resolve(session, f"{CHANGES}/{title}")
    session.printer.say(f"{title}, {value}")
    _show_or_go_to(session, session.children(reference, 0, _ALL) if reference else [], f"changes {moment}", number)


def _rows_of_changes(session: Session) -> list[Variable]:
    _, reference, _ = resolve(session, CHANGES)
    return session.children(reference)


@command("checkpoint", usage="NAME", needs_stop=True, missing="which name? `checkpoint NAME`")
def checkpoint(session: Session, argument: str) -> None:
    """Name this moment of the compile: `changes NAME` tells later what has changed since."""
    if checkpoint_name(f"checkpoint {argument}") is None:
        raise CommandError(f"a checkpoint's name is one word of letters and digits, not `{argument}`")
    session.need_frame()
    session.printer.say(session.evaluate(f"checkpoint {argument}").result)


def _show_or_go_to(session: Session, lines: list[Variable], asked: str, number: str) -> None:
    """Print the rows, or go back to the line of the one with this number."""
    if not number:
        session.printer.variables(lines)
    elif number.isdecimal() and 0 < int(number) <= len(lines):
        session.need_frame()
        session.resume("goto", {"targetId": lines[int(number) - 1].target_id})
    else:
        raise CommandError(f"`{asked}` has {len(lines)} row{'' if len(lines) == 1 else 's'}, and none is #{number}")


@command(
    "jump",
    "j",
    "goto",
    usage="LINE | FILE:LINE | #EVENT",
    needs_stop=True,
    missing="to where? `jump 12`, `jump FILE:12`, or `jump #3` for event 3 of `timeline`",
)
def jump(session: Session, argument: str) -> None:
    """Go back to where Dynamo last began a line, or to an event; at run time, set the next line.

    At compile time the line may be one of a function that Dynamo has left by now. To go on to a line: `tbreak LINE`,
    then `continue`. `timeline` lists the events, and marks with → those to which there is a way, back and forth.
    """
    session.need_frame()
    event = argument.startswith("#")
    session.resume("goto", {"targetId": _event(session, argument[1:]) if event else _line(session, argument)})


@command("timeline", usage="[COUNT]", needs_stop=True)
def timeline(session: Session, argument: str) -> None:
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
def compare(session: Session, argument: str) -> None:
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


def _line(session: Session, argument: str) -> int:
    """Return the id of the target of a line. Raises CommandError."""
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
    return targets[0].id


def _event(session: Session, number: str) -> int:
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


def _events(session: Session, count: int) -> list[TimelineEvent]:
    return session.ask("dynascopeTimeline", {"count": count}, TimelineBody).events


def _step_back(session: Session, argument: str, granularity: str) -> None:
    session.need_frame()
    if argument and not argument.isdecimal():
        raise CommandError(f"how many times? A number, not `{argument}`")
    for _ in range(int(argument or 1)):
        if session.frames:
            session.resume("stepBack", {"granularity": granularity})
