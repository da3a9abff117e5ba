"""The prompt's commands, one file per group. A command declares its names, usage and help beside itself."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session

Body = Callable[[Session, str], None]


@dataclass(frozen=True)
class Command:
    """A command: `run` gets the session and the rest of the line, and may raise CommandError."""

    names: tuple[str, ...]
    usage: str
    summary: str
    details: str
    group: str
    run: Body
    repeats: bool = False
    needs_stop: bool = False
    missing: str = ""


_commands: list[Command] = []
_by_name: dict[str, Command] = {}


def command(
    *names: str, usage: str = "", repeats: bool = False, needs_stop: bool = False, missing: str = ""
) -> Callable[[Body], Body]:
    """Register a function as a command. Its docstring is its help: the first line alone in the list.

    `repeats`: an empty line does it again. `needs_stop`: in a list of commands, the program is first run to a stop.
    `missing`: the complaint when nothing follows the command's name, before the program is run for it.
    """

    def register(run: Body) -> Body:
        summary, _, details = (run.__doc__ or "").partition("\n")
        group = run.__module__.rpartition(".")[2]
        shown = f"{names[0]} {usage}".strip()
        made = Command(names, shown, summary, details.strip(), group, run, repeats, needs_stop, missing)
        _commands.append(made)
        _by_name.update(dict.fromkeys(names, made))
        return run

    return register


def all_commands() -> list[Command]:
    """Every command, group by group."""
    return list(_commands)


def names() -> list[str]:
    """Every word that starts a command."""
    return sorted(_by_name)


def find(word: str) -> Command:
    """The command of that name, or whose name alone begins so. Raises CommandError naming the nearest ones."""
    if word in _by_name:
        return _by_name[word]
    beginning = {one.names for name, one in _by_name.items() if name.startswith(word)}
    if len(beginning) == 1:
        return _by_name[beginning.pop()[0]]
    near = sorted({one[0] for one in beginning}) or difflib.get_close_matches(word, names(), 3, 0.5)
    hint = f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else "`help` lists the commands"
    raise CommandError(f"there is no command `{word}`; {hint} (`print {word}` evaluates an expression)")


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
