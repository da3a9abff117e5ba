"""Treat a notebook as one module: later cells use the names that earlier ones define."""

from __future__ import annotations

from dynascope_lsp.documents.syntax import parse

_MAGIC = ("%", "!", "?")


def as_module(cells: list[str]) -> str:
    """Join the sources of all code cells.

    Each ends with a newline; IPython commands, and all lines of a cell that is not Python, become empty lines.
    """
    return "".join(_cell(each) for each in cells)


def first_line(cells: list[str], place: int) -> int:
    """Return the line of that module, from 1, at which a cell begins."""
    return 1 + sum(each.count("\n") + 1 for each in cells[:place])


def _cell(source: str) -> str:
    lines = ["" if line.lstrip().startswith(_MAGIC) else line for line in source.split("\n")]
    if parse("\n".join(lines)) is None:
        lines = [""] * len(lines)
    return "\n".join(lines) + "\n"
