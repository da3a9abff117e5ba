"""Start, step, resume, pause and end the program."""

from __future__ import annotations

from dynascope.terminal.client import RequestFailed
from dynascope.terminal.commands import command, find
from dynascope.terminal.debuggee import StepCommand
from dynascope.terminal.interrupts import deferred
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session
from dynascope.wire.dap import StepInTargetsBody


@command("run")
def run(session: Session, argument: str) -> None:
    """Start the program."""
    if session.alive:
        raise CommandError("the program is running already; `continue` resumes it, `restart` starts it again")
    if session.finished:
        session.need_program()
    session.start()


@command("continue", "c", "cont", repeats=True)
def continue_(session: Session, argument: str) -> None:
    """Continue to the next stop; start the program if it has not been started."""
    if session.alive or session.finished:
        session.resume("continue")
    else:
        session.start()


@command("next", "n", repeats=True, needs_stop=True)
def next_(session: Session, argument: str) -> None:
    """Go to the next line of this frame, over calls."""
    _step(session, argument, "next")


@command("step", "s", usage="[COUNT | CALL]", repeats=True, needs_stop=True)
def step(session: Session, argument: str) -> None:
    """Go to the next line, into calls: at compile time, into those Dynamo inlines.

    CALL is a part of a call on the current line: `step norm` steps into `self.norm(x)`, and over the calls before it.
    """
    if argument and not argument.isdecimal():
        session.resume("stepIn", {"targetId": _target(session, argument)})
    else:
        _step(session, argument, "stepIn")


@command("out", "finish", "return", "r", repeats=True, needs_stop=True)
def out(session: Session, argument: str) -> None:
    """Continue until this frame returns to its caller."""
    _step(session, argument, "stepOut")


_ALONE: dict[str, StepCommand] = {"continue": "continue", "next": "next", "step": "stepIn", "out": "stepOut"}


@command(
    "alone",
    usage="continue | next | step | out",
    repeats=True,
    needs_stop=True,
    missing="what shall this thread do? `alone next`, `alone continue`",
)
def single_thread(session: Session, argument: str) -> None:
    """Resume only this thread: other stopped threads stay stopped until `continue`."""
    session.need_frame()
    name = find(argument).names[0]
    if name not in _ALONE:
        raise CommandError(f"`alone` takes one of {', '.join(f'`{word}`' for word in _ALONE)}, not `{argument}`")
    session.resume(_ALONE[name], {"singleThread": True})


@command("pause")
def pause(session: Session, argument: str) -> None:
    """Stop the running program where it is (Ctrl-C does the same)."""
    debuggee = session.need_program()
    if session.frames:
        raise CommandError("the program is stopped already")
    try:
        debuggee.pause()
    except RequestFailed as error:
        raise CommandError(str(error)) from error
    with deferred() as interrupts:
        session.follow(interrupts)


@command("restart")
def restart(session: Session, argument: str) -> None:
    """End the program and run it again from its beginning, with the same breakpoints."""
    session.start()


@command("quit", "q", "exit")
def quit_(session: Session, argument: str) -> None:
    """End the program and the debugger."""
    session.close()
    session.leaving = True


def _target(session: Session, text: str) -> int:
    """Return the id of the call on this line that contains `text`. Raises CommandError."""
    frame = session.need_frame()
    targets = session.ask("stepInTargets", {"frameId": frame.id}, StepInTargetsBody).targets
    called = [target for target in targets if text in target.label.partition("(")[0]]
    matches = called or [target for target in targets if text in target.label]
    if not matches:
        there_are = f"; there are {', '.join(f'`{target.label}`' for target in targets)}" if targets else ""
        raise CommandError(f"no call with `{text}` is still to come on this line{there_are}")
    return matches[0].id


def _step(session: Session, argument: str, kind: str) -> None:
    session.need_frame()
    if argument and not argument.isdecimal():
        raise CommandError(f"how many times? A number, not `{argument}`")
    for _ in range(int(argument or 1)):
        if session.frames:
            session.resume(kind)  # type: ignore[arg-type]
