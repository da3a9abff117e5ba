"""The command line of a recorded program: as a run keeps it, and as what starts the program again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec import Struct


class Program(Struct, frozen=True):
    """`path` is as the program was given it, relative to the folder of its run; `module` is `python -m`'s."""

    arguments: list[str]
    path: str | None = None
    module: str | None = None


def written(arguments: Sequence[str], module: str | None) -> str:
    """`sys.argv` as a shell would take it; `module` in the place of its first, when `python -m` has run one."""
    return shlex.join(["-m", module, *arguments[1:]] if module else arguments)


def read(text: str) -> Program | None:
    """None where the text starts nothing again: code of `python -c`, an interactive session, an imported log."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if words[:1] == ["-m"]:
        return Program(words[2:], module=words[1]) if len(words) > 1 else None
    if not words or not words[0].endswith((".py", ".pyw")):
        return None
    return Program(words[1:], path=words[0])
