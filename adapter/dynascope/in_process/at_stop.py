"""Tell a notebook what is at the stops of its kernel: `%dynascope where`, `locals`, and the debug console's commands.

Where the cell that is stopped holds the kernel, another cell has to come on another way: from a subshell (ipykernel
7.0), or as an `execute_request` on the control channel.
"""

from __future__ import annotations

import io

from dynascope import console
from dynascope.agent.session.api.at_stop import Answer, NotAnswered, Question, ask_all, command, scope, stack
from dynascope.terminal.printing import Printer

_PAGE = 100
"""The most rows of an answer."""


def is_command(line: str) -> bool:
    """Whether a line is one that `told` answers."""
    return bool(_name(line))


def told(line: str) -> str:
    """Return the answer of each stop to a command, such as `guards x`. Raises NotAnswered."""
    number, rest = _frame(line)
    name = _name(rest)
    try:
        answers = ask_all(_question(name, rest[len(name) :].strip()), number)
    except console.BadCommand as error:
        raise NotAnswered(str(error)) from None
    written = io.StringIO()
    printer = Printer(written)
    for thread, answer in answers:
        if len(answers) > 1:
            printer.say(f"{thread}:")
        _print(printer, answer)
    return written.getvalue().rstrip("\n")


def _name(line: str) -> str:
    """Return the command that a line begins with, or "". `what if` has two words."""
    names = ["where", "locals", *(entry.name for entry in console.all_commands() if entry.needs == "stop")]
    return max((name for name in names if f"{line.strip()} ".startswith(f"{name} ")), key=len, default="")


def _question(name: str, argument: str) -> Question:
    if name == "where":
        return stack
    return scope("Locals", argument) if name == "locals" else command(name, argument)


def _frame(line: str) -> tuple[int, str]:
    """Return the number of the frame that is asked, and the command; `locals #1` asks the caller's."""
    rest, _, last = line.strip().rpartition(" ")
    if rest and last[:1] == "#" and last[1:].isdecimal():
        return int(last[1:]), rest.strip()
    return 0, line.strip()


def _print(printer: Printer, answer: Answer) -> None:
    if answer.text:
        printer.say(answer.text)
    if answer.frames:
        printer.stack(answer.frames, 0)
        return
    printer.variables(answer.rows[:_PAGE])
    if len(answer.rows) > _PAGE:
        printer.say(f"  … {len(answer.rows) - _PAGE} more: name a part of them")
    if not (answer.text or answer.rows):
        printer.say("  (empty)")
