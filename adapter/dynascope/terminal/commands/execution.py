"""Start, step, resume, pause and end the program; list the bytecode that Dynamo traces, and step through it."""

from __future__ import annotations

from dynascope.terminal.client import CommandError
from dynascope.terminal.commands import command, find
from dynascope.terminal.debuggee import StepCommand
from dynascope.terminal.interrupts import deferred
from dynascope.terminal.session import TerminalSession
from dynascope.wire.dap import DisassembleBody, StepInTargetsBody

_BEFORE, _AFTER = 8, 16
_ALL = 4000


@command("run", resumes=True)
def run(session: TerminalSession, argument: str) -> None:
    """Start the program."""
    if session.alive:
        again = "" if session.program.ran_before else ", `restart` starts it again"
        raise CommandError(f"the program is running already; `continue` resumes it{again}")
    if session.finished:
        session.need_program()
    session.start()


@command("continue", "c", "cont", repeats=True, resumes=True)
def continue_(session: TerminalSession, argument: str) -> None:
    """Continue to the next stop; start the program if it has not been started."""
    if session.alive or session.finished:
        session.resume("continue")
    else:
        session.start()


@command("next", "n", repeats=True, needs_stop=True, resumes=True)
def next_(session: TerminalSession, argument: str) -> None:
    """Go to the next line of this frame, over calls."""
    repeat(session, argument, "next")


@command("step", "s", usage="[COUNT | CALL]", repeats=True, needs_stop=True, resumes=True)
def step(session: TerminalSession, argument: str) -> None:
    """Go to the next line, into calls: at compile time, into those Dynamo inlines.

    CALL is a part of a call on the current line: `step norm` steps into `self.norm(x)`, and over the calls before it.
    """
    if argument and not argument.isdecimal():
        session.resume("stepIn", {"targetId": _target(session, argument)})
    else:
        repeat(session, argument, "stepIn")


@command("out", "finish", "return", "r", repeats=True, needs_stop=True, resumes=True)
def out(session: TerminalSession, argument: str) -> None:
    """Continue until this frame returns to its caller."""
    repeat(session, argument, "stepOut")


STEPS: dict[str, StepCommand] = {"continue": "continue", "next": "next", "step": "stepIn", "out": "stepOut"}
"""The commands that `alone` and `all` take, with DAP's requests."""


@command(
    "alone",
    usage="continue | next | step | out",
    repeats=True,
    needs_stop=True,
    missing="what shall this thread do? `alone next`, `alone continue`",
    resumes=True,
)
def single_thread(session: TerminalSession, argument: str) -> None:
    """Resume only this thread: other stopped threads stay stopped until `continue`.

    So do the other ranks of a job.
    """
    session.need_frame()
    name = find(argument).names[0]
    if name not in STEPS:
        raise CommandError(f"`alone` takes one of {', '.join(f'`{word}`' for word in STEPS)}, not `{argument}`")
    session.resume(STEPS[name], {"singleThread": True})


@command("pause", resumes=True)
def pause(session: TerminalSession, argument: str) -> None:
    """Stop the running program where it is (Ctrl-C does the same)."""
    debuggee = session.need_program()
    if session.frames:
        raise CommandError("the program is stopped already")
    debuggee.pause()
    with deferred() as interrupts:
        session.follow(interrupts)


@command("restart", resumes=True)
def restart(session: TerminalSession, argument: str) -> None:
    """End the program and run it again from its beginning, with the same breakpoints."""
    if session.program.ran_before:
        raise CommandError("the program ran before this prompt, which cannot run it again; `continue` resumes it")
    session.start()


@command("quit", "q", "exit", resumes=True)
def quit_(session: TerminalSession, argument: str) -> None:
    """End the program, unless it ran before, and the debugger."""
    session.close()
    session.leaving = True


def _target(session: TerminalSession, text: str) -> int:
    """Return the id of the call on this line that contains `text`. Raises CommandError."""
    frame = session.need_frame()
    targets = session.ask("stepInTargets", {"frameId": frame.id}, StepInTargetsBody).targets
    called = [target for target in targets if text in target.label.partition("(")[0]]
    matches = called or [target for target in targets if text in target.label]
    if not matches:
        there_are = f"; there are {', '.join(f'`{target.label}`' for target in targets)}" if targets else ""
        raise CommandError(f"no call with `{text}` is still to come on this line{there_are}")
    return matches[0].id


def repeat(
    session: TerminalSession, argument: str, step: StepCommand, granularity: str = "", what: str = "times"
) -> None:
    """Step so many times as the argument says, once without it. Raises CommandError."""
    session.need_frame()
    if argument and not argument.isdecimal():
        raise CommandError(f"how many {what}? A number, not `{argument}`")
    for _ in range(int(argument or 1)):
        if session.frames:
            session.resume(step, {"granularity": granularity} if granularity else {})
            if what == "instructions" and session.frames:
                _show_instruction(session)


@command("disassemble", "dis", usage="[COUNT | all]", needs_stop=True)
def disassemble(session: TerminalSession, argument: str) -> None:
    """List the bytecode that Dynamo traces in this frame, around the current instruction.

    The effect on the value stack follows `;`. COUNT is the number of instructions from the current one, `all` means
    the whole function. `break *ADDRESS` stops at one.
    """
    frame = session.need_frame()
    if frame.instruction_pointer_reference is None:
        raise CommandError(f"`{frame.name}` is not traced by Dynamo; its bytecode is Python's own")
    first, count = -_BEFORE, _BEFORE + _AFTER
    if argument == "all":
        first, count = -_ALL, 2 * _ALL
    elif argument:
        if not argument.isdecimal():
            raise CommandError(f"how many instructions? A number or `all`, not `{argument}`")
        first, count = 0, int(argument)
    arguments = {
        "memoryReference": frame.instruction_pointer_reference,
        "instructionOffset": first,
        "instructionCount": count,
    }
    rows = session.ask("disassemble", arguments, DisassembleBody).instructions
    marked = [one.answer.instruction_reference for one in session.breakpoints if one.answer is not None]
    line = None
    for row in rows:
        if row.presentation_hint == "invalid":
            continue
        here = row.address == frame.instruction_pointer_reference
        mark = ("->" if here else "  ") + ("B" if row.address in marked else " ")
        number = f"{row.line:>5}" if row.line is not None and row.line != line else " " * 5
        line = row.line
        session.printer.say(f"{mark}{number}  {row.address}  {row.instruction}", "bold" if here else "")


@command("stepi", "si", usage="[COUNT]", repeats=True, needs_stop=True, resumes=True)
def stepi(session: TerminalSession, argument: str) -> None:
    """Step by one instruction that Dynamo traces, into inlined calls; at run time, by one line."""
    repeat(session, argument, "stepIn", "instruction", "instructions")


@command("nexti", "ni", usage="[COUNT]", repeats=True, needs_stop=True, resumes=True)
def nexti(session: TerminalSession, argument: str) -> None:
    """Step by one instruction that Dynamo traces, over calls; at run time, by one line."""
    repeat(session, argument, "next", "instruction", "instructions")


def _show_instruction(session: TerminalSession) -> None:
    pointer = session.frames[0].instruction_pointer_reference
    arguments = {"memoryReference": pointer, "instructionCount": 1}
    for row in session.ask("disassemble", arguments, DisassembleBody).instructions if pointer else ():
        session.printer.say(f"->       {row.address}  {row.instruction}", "bold")
