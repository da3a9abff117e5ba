"""Define a heading of the Variables view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from dynascope.agent.inspection.values.names import Named
from dynascope.agent.inspection.values.rows import Children, Row, Rows, ViewOptions

GRAPH = "Graph"
"""The scope whose source is the document of a stop: the graph so far."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A DAP Scope before it has a reference; the client opens an expensive one only on demand."""

    name: str
    children: Children
    expensive: bool = False
    hint: str | None = None
    empty: str = "(empty)"
    """The text that the scope shows when it is empty."""


def rows_of_names(named: Mapping[str, Named]) -> Rows:
    """Return a row for each name."""

    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for name, value in islice(named.items(), start, stop):
            yield value.row(options, name, name)

    return Rows(len(named), make, names=lambda: named)
