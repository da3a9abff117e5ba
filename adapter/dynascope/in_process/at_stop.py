"""Tell a notebook what is at the stops of its kernel: `%dynascope where`, `locals`, and the debug console's commands.

The kernel runs no other cell while one is stopped. These commands therefore come from a subshell (ipykernel 7.0), or as
an `execute_request` on the control channel.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

from dynascope import console
from dynascope.agent.session.api.at_stop import AskedThread, NotAnswered, stopped_threads
from dynascope.terminal.printing import Printer
from dynascope.wire.dap import Scope, Variable

_PAGE = 100
"""The most rows of an answer."""
_FRAME = re.compile(r"\s+--frame[ =](\d+)$")


def told(line: str) -> str:
    """Return the answer of each stop to a line such as `guards x`. Raises NotAnswered."""
    match = _FRAME.search(line)
    number, line = (int(match[1]), line[: match.start()]) if match is not None else (0, line)
    written = io.StringIO()
    printer, threads, refusals = Printer(written), stopped_threads(), []
    for thread in threads:
        if len(threads) > 1:
            printer.say(f"{thread.name}:")
        try:
            _answer(printer, thread, line.strip(), number)
        except NotAnswered as error:
            refusals.append(str(error))
            printer.say(refusals[-1])
    if len(refusals) == len(threads):
        raise NotAnswered(" ".join(dict.fromkeys(refusals)))
    return written.getvalue().rstrip("\n")


def _answer(printer: Printer, thread: AskedThread, line: str, number: int) -> None:
    frames = thread.frames()
    if line == "where":
        printer.stack(frames, number)
        return
    if number >= len(frames) or not frames[number].id:
        if number < len(frames):
            raise NotAnswered(f"Frame {number} is of the running program: the attached debugger shows its variables.")
        raise NotAnswered(f"There is no frame {number}: `%dynascope where` lists the frames.")
    frame, is_command = frames[number], any(line == entry.name for entry in console.all_commands())
    scopes = thread.scopes(frame)
    scope = next((each for each in scopes if f"{line} ".casefold().startswith(f"{each.name} ".casefold())), None)
    if scope is not None and scope.name != "Guards":  # a command of the debug console, too
        _print_scope(printer, thread, scope, line[len(scope.name) :].strip())
        return
    try:
        # with a question mark no variable of that name is meant
        result = thread.evaluate(frame, f"{line}?" if is_command else line.removeprefix("print "))
    except NotAnswered:
        if not line.isidentifier() or is_command:
            raise
        asked = ", ".join(_can_be_asked(scopes))
        raise NotAnswered(f"There is no `{line}` here: ask for {asked}.") from None
    printer.say(result.result)
    _print(printer, thread.rows(result.variables_reference, _PAGE + 1))


def _print_scope(printer: Printer, thread: AskedThread, scope: Scope, text: str) -> None:
    """Print the rows of a scope; with a text, only the rows that contain it."""
    if not text:
        _print(printer, thread.rows(scope.variables_reference, _PAGE + 1))
        return
    rows = [row for row in thread.rows(scope.variables_reference) if console.is_with(row, text)]
    if not rows:
        raise NotAnswered(f"{scope.name} has no row with `{text}`.")
    _print(printer, rows)


def _can_be_asked(scopes: Sequence[Scope]) -> Iterator[str]:
    yield from ("where", "print EXPRESSION")
    yield from (each.name.lower() for each in scopes if each.name != "Guards")
    yield from (entry.name for entry in console.all_commands() if entry.needs == "stop")


def _print(printer: Printer, rows: Sequence[Variable]) -> None:
    printer.variables(rows[:_PAGE])
    if len(rows) > _PAGE:
        printer.say("  … and more: a TEXT after the command shows only rows that contain it")
