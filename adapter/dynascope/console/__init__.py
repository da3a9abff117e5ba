"""The commands of the debug console, one file each: a decorator declares a command's name, arguments, help and answer.

The adapter, the agent and the prompt read this one list. What answers at a stop runs in the program and imports the
agent only then.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import keyword
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple

from dynascope.wire.dap import EvaluateResult

Answer = Callable[[Any, int, str], EvaluateResult]
"""Answers with the agent's `StopInspection`, None where there is no stop, the id of the frame, and the arguments."""

AtRuntime = Callable[[str, Mapping[str, Any]], str]
"""Answers for the running frame that has these variables, which is one of its callers."""


class BadCommand(Exception):
    """Raised for a command that cannot be answered as it is written; its text is a message for the user."""


@dataclass
class Command:
    """A command, and the decorator of what answers it: its docstring is the help, whose first line lists have."""

    name: str
    _: KW_ONLY
    needs: Literal["nothing", "program", "stop"] = "stop"
    """What there must be; the adapter itself answers a command that needs nothing."""
    usage: str = ""
    page: str = ""
    """Where docs/ tells more."""
    words: Callable[[], Iterable[str]] = tuple
    """Returns what the argument may begin with, for completion."""
    missing: str = ""
    """The error where there is no argument."""
    answers_with: Literal["text", "rows", "lines"] = "text"
    """Where the answer is: in its text, in the rows below it, or in rows that are lines to which there is a way."""
    place_after: str = ""
    """The word after which a place of the program follows."""
    at_runtime: AtRuntime | None = None
    """Answers where the program runs, too."""

    def __call__(self, answer: Answer) -> Answer:
        """Add the command to the list, with what answers it."""
        self.answer = answer
        summary, _, details = inspect.cleandoc(answer.__doc__ or "").partition("\n")
        self.summary, self.details = summary, details.strip()
        _commands[self.name] = self
        return answer

    @property
    def written(self) -> str:
        """Return its name with its arguments, as its help begins."""
        return f"{self.name} {self.usage}".rstrip()

    def check(self, argument: str) -> None:
        """Raise BadCommand for an argument that is missing, or too much."""
        if self.missing and not argument:
            raise BadCommand(self.missing)
        if argument and not self.usage:
            raise BadCommand(f"`{self.name}` has no arguments.")


class Asked(NamedTuple):
    """A line of the debug console that is a command."""

    command: Command
    argument: str
    variable: str
    """The variable that it means where there is one of this name; "" if Python cannot mean it."""

    def with_place(self, changed: Callable[[str], str]) -> Asked:
        """Return it with another place (`model.py:12`) in its argument, if the command has one."""
        before, word, place = self.argument.rpartition(self.command.place_after or "\n")
        return self if before or not word else self._replace(argument=f"{word}{changed(place.strip())}")


_commands: dict[str, Command] = {}


def is_with(row: Any, text: str) -> bool:
    """Whether a row, or a `Variable` of DAP, contains a text in its name, value or type."""
    return text.casefold() in f"{row.name} {row.value} {row.type or ''}".casefold()


def all_commands() -> list[Command]:
    """Return every command, sorted by name."""
    return [_commands[name] for name in sorted(_commands)]


def find(name: str) -> Command:
    """Return the command of this name. Raises BadCommand with a similar one."""
    if name in _commands:
        return _commands[name]
    raise BadCommand(f"There is no command `{name}`; {near_miss(name) or '`help` lists the commands.'}")


def asked(line: str) -> Asked | None:
    """Return the command that a line is, or None.

    Python is none, but for a bare name, which may be a variable's. With a question mark at its end a line is no Python,
    and always the command: `why?`, `guards == 3?`.
    """
    line = line.strip()
    for entry in _commands.values():
        match = re.fullmatch(rf"({entry.name.replace(' ', '[ ]*')})(?:\s*|\s+(.*\S)\s*|\s*\?)", line, re.IGNORECASE)
        if match is not None:
            argument = (match[2] or "").removesuffix("?").rstrip()
            is_python = _is_python(line)
            if is_python and argument:
                return None
            return Asked(entry, argument, line if is_python else "")
    return None


def near_miss(line: str) -> str:
    """Return a hint at the command that a line may have been meant to be; "" if it is like none."""
    word = re.match(r"\s*([^\W\d]\w*)", line)
    if word is None or keyword.iskeyword(word[1]):
        return ""
    first = {name.partition(" ")[0]: name for name in _commands}
    near = difflib.get_close_matches(word[1].lower(), first, 1, 0.75)
    return f"did you mean the command `{first[near[0]]}`?" if near else ""


def is_misspelt(line: str) -> bool:
    """Whether a line is like a command and cannot be Python."""
    return bool(near_miss(line)) and not _is_python(line)


def completions(before: str) -> list[tuple[str, str]]:
    """Return how a command in a line may go on from its last word, each way with what it does."""
    typed = before.lstrip()
    begun = typed.rpartition(" ")[0]
    at = len(begun) + 1 if " " in typed else 0
    found = []
    for entry in all_commands():
        if entry.name.startswith(typed):
            found.append((entry.name[at:], entry.summary))
        elif typed.startswith(f"{entry.name} "):
            lines = (f"{entry.name} {word}" for word in entry.words())
            found += [(line[at:], entry.written) for line in lines if line.startswith(typed)]
    return found


def _is_python(line: str) -> bool:
    try:
        ast.parse(line)
    except (SyntaxError, ValueError):
        return False
    return True


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
