"""The prompt's commands, one file per group. A decorator declares a command's names, usage and help."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from dynascope.terminal.client import CommandError
from dynascope.terminal.session import TerminalSession

Body = Callable[[TerminalSession, str], None]


@dataclass(frozen=True)
class PromptCommand:
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
    resumes: bool = False


_commands: list[PromptCommand] = []
_by_name: dict[str, PromptCommand] = {}


def command(
    *names: str,
    usage: str = "",
    repeats: bool = False,
    needs_stop: bool = False,
    missing: str = "",
    resumes: bool = False,
) -> Callable[[Body], Body]:
    """Register a function as a command. Its docstring is its help; `help` lists the first line.

    `repeats`: an empty line repeats it. `needs_stop`: in a list of commands, the program is first run to a stop.
    `missing`: the error when the command has no argument, before the program is run for it. `resumes`: the program goes
    on, or ends.
    """

    def register(run: Body) -> Body:
        summary, _, details = (run.__doc__ or "").partition("\n")
        group = run.__module__.rpartition(".")[2]
        usage_line = f"{names[0]} {usage}".strip()
        registered = PromptCommand(
            names, usage_line, summary, details.strip(), group, run, repeats, needs_stop, missing, resumes
        )
        _commands.append(registered)
        _by_name.update(dict.fromkeys(names, registered))
        return run

    return register


def all_commands() -> list[PromptCommand]:
    """Return every command, group by group."""
    return list(_commands)


def names() -> list[str]:
    """Return the names of all commands, sorted."""
    return sorted(_by_name)


def find(word: str) -> PromptCommand:
    """Find a command by its name or a unique prefix. Raises CommandError with similar names."""
    if word in _by_name:
        return _by_name[word]
    beginning = {entry.names for name, entry in _by_name.items() if name.startswith(word)}
    if len(beginning) == 1:
        return _by_name[beginning.pop()[0]]
    near = sorted({entry[0] for entry in beginning}) or difflib.get_close_matches(word, names(), 3, 0.5)
    hint = f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else "`help` lists the commands"
    raise CommandError(f"there is no command `{word}`; {hint} (`print {word}` evaluates an expression)")


def execute(session: TerminalSession, line: str, starts: bool = False) -> PromptCommand | None:
    """Run one line; return its command, or None for an empty line. Raises CommandError.

    With `starts`, a command that needs a stop first starts the program if it has not run, or raises StartFailed.
    """
    if not line.strip():
        return None
    command, argument = parse(line)
    if command.missing and not argument:
        raise CommandError(command.missing)
    if starts and command.needs_stop and session.debuggee is None and not session.finished:
        session.start()
    command.run(session, argument)
    return command


def parse(line: str) -> tuple[PromptCommand, str]:
    """Return the command of a line and its argument. Raises CommandError."""
    line = line.strip()
    if not line:
        raise CommandError("which command? `help` lists them")
    if line.startswith("!"):
        return find("!"), line[1:].strip()
    word, _, argument = line.partition(" ")
    return find(word), argument.strip()


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
