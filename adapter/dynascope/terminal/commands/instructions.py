"""List the bytecode that Dynamo traces, and step through it."""

from __future__ import annotations

from dynascope.terminal.commands import command
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session
from dynascope.wire.dap import DisassembleBody

_BEFORE, _AFTER = 8, 16
_ALL = 4000


@command("disassemble", "dis", usage="[COUNT | all]", needs_stop=True)
def disassemble(session: Session, argument: str) -> None:
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


@command("stepi", "si", usage="[COUNT]", repeats=True, needs_stop=True)
def stepi(session: Session, argument: str) -> None:
    """Step by one instruction that Dynamo traces, into inlined calls; at run time, by one line."""
    _step(session, argument, "stepIn")


@command("nexti", "ni", usage="[COUNT]", repeats=True, needs_stop=True)
def nexti(session: Session, argument: str) -> None:
    """Step by one instruction that Dynamo traces, over calls; at run time, by one line."""
    _step(session, argument, "next")


def _step(session: Session, argument: str, kind: str) -> None:
    session.need_frame()
    if argument and not argument.isdecimal():
        raise CommandError(f"how many instructions? A number, not `{argument}`")
    for _ in range(int(argument or 1)):
        if session.frames:
            session.resume(kind, {"granularity": "instruction"})  # type: ignore[arg-type]
            if session.frames and (pointer := session.frames[0].instruction_pointer_reference):
                _show_one(session, pointer)


def _show_one(session: Session, pointer: str) -> None:
    arguments = {"memoryReference": pointer, "instructionCount": 1}
    for row in session.ask("disassemble", arguments, DisassembleBody).instructions:
        session.printer.say(f"->       {row.address}  {row.instruction}", "bold")
