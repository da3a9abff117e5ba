"""A notebook as one module: its cells share their names, so what one imports or defines is there in those after it."""

from __future__ import annotations

from dynascope_lsp.documents.reparsing import parse

_MAGIC = ("%", "!", "?")


def as_module(cells: list[str]) -> str:
    """Join the sources of all code cells.

    Each ends with a line end; lines of commands to IPython, and those of cells that are not Python, are empty.
    """
    return "".join(_cell(each) for each in cells)


def first_line(cells: list[str], place: int) -> int:
    """Count at which line of that module a cell begins, from 1."""
    return 1 + sum(each.count("\n") + 1 for each in cells[:place])


def _cell(source: str) -> str:
    lines = ["" if line.lstrip().startswith(_MAGIC) else line for line in source.split("\n")]
    if parse("\n".join(lines)) is None:
        lines = [""] * len(lines)
    return "\n".join(lines) + "\n"
