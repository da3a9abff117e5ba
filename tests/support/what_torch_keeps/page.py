"""docs/what-torch-keeps.md, read: which names of torch's have which row at which stop, and which have none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "what-torch-keeps.md"
NO_ROW = "No row"
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Shown:
    """A row at a stop: its path, and what it says, with `…` for anything; for these names of torch's."""

    names: tuple[str, ...]
    path: str
    text: str


@dataclass(slots=True)
class File:
    """What the page says of one file of torch's."""

    shown: dict[str, list[Shown]] = field(default_factory=dict)
    """By the heading of the stop."""
    names: list[str] = field(default_factory=list)
    """All that it mentions, in their order."""


def files() -> dict[str, File]:
    """By path in torch's package: `torch/_guards.py`."""
    found: dict[str, File] = {}
    path = heading = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            path = line.removeprefix("## ")
            found[path] = File()
        elif line.startswith("### "):
            heading = line.removeprefix("### ")
        elif line.startswith("| `"):
            _add(found[path], heading, list(_cells(line)))
    return found


def _cells(line: str) -> Iterator[list[str]]:
    for cell in line.strip("|").split(" | "):
        yield _CODE.findall(cell)


def _add(file: File, heading: str, cells: list[list[str]]) -> None:
    names = cells[0]
    file.names += names
    if heading != NO_ROW:
        (path,), (text,) = cells[1:3]
        file.shown.setdefault(heading, []).append(Shown(tuple(names), path, text))
