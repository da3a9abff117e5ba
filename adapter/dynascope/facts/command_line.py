"""The command line of a recorded program: the text that a run stores, and its parts to start the program again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec import Struct


class CommandLine(Struct, frozen=True):
    """`path` is relative to the folder of the run, as on its command line; `module` is `python -m`'s."""

    arguments: list[str]
    path: str | None = None
    module: str | None = None


def written(arguments: Sequence[str], module: str | None) -> str:
    """Return `sys.argv` quoted for a shell; `-m module` replaces its first for `python -m`."""
    return shlex.join(["-m", module, *arguments[1:]] if module else arguments)


def read(text: str) -> CommandLine | None:
    """Parse the text; None for `python -c`, an interactive session or an imported log."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if words[:1] == ["-m"]:
        return CommandLine(words[2:], module=words[1]) if len(words) > 1 else None
    if not words or not words[0].endswith((".py", ".pyw")):
        return None
    return CommandLine(words[1:], path=words[0])
