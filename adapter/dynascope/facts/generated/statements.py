"""Find the statements of a graph or of output code that are from a line of the program.

Above them stands where they are from, as `GraphModule.print_readable` of torch writes it: `# File: model.py:10 in f`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

P = TypeVar("P")
_PLACE = re.compile(r"# (?:called at |Backward of forward node: )?File: (.+?):(\d+) in ")
_SOURCE = "'''"
"""The source of a kernel is a text of several lines."""


class Statement(NamedTuple):
    """A line of a text, and its number in it, from 1."""

    number: int
    text: str


def statements(text: Sequence[str], places: Sequence[P]) -> Iterator[tuple[Statement, P]]:
    """Yield the lines with their places, but for comments, `return` and the sources of kernels."""
    is_source = False
    for number, (line, found) in enumerate(zip(text, places, strict=False), 1):
        if not is_source and not line.lstrip().startswith(("#", "return")):
            yield Statement(number, line.strip()), found
        is_source = _SOURCE in line if not is_source else not line.startswith(_SOURCE)


def statements_from(
    text: Sequence[str], places: Sequence[Iterable[P]], is_asked: Callable[[P], bool]
) -> list[Statement]:
    """Return the lines of which a place is asked for."""
    return [line for line, found in statements(text, places) if any(map(is_asked, found))]


def listed(name: str, found: Iterable[Statement]) -> Iterator[str]:
    """Yield the name of a graph, and below it statements with their numbers."""
    yield name
    yield from (f"{each.number:>6}  {each.text}" for each in found)


def places_in(text: Sequence[str], is_graph: bool) -> list[list[tuple[str, int]]]:
    """Return for each line of a text the places in the comments above it: paths and lines.

    In a graph they are those of all nodes up to an empty line; in output code those of the next line.
    """
    found: list[list[tuple[str, int]]] = []
    known: list[tuple[str, int]] = []
    is_comment = True
    for line in text:
        was_comment, is_comment = is_comment, line.lstrip().startswith("#")
        if not line or (not is_graph and not was_comment):
            known = []
        known = [*known, *((path, int(number)) for path, number in _PLACE.findall(line))]
        found.append(known)
    return found
