"""Which rows a `variables` request is about: a page, the first part for a client that cannot page, or mere names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice

from dynascope.agent.inspection.values.rows import PAGED_FROM, Children, Row, Rows, ViewOptions
from dynascope.wire.dap import VariablePresentationHint
from dynascope.wire.to_agent import Variables

PART = 100
"""Rows that a client which cannot page gets of a big view at once, and at most at any place below the row `more`."""

NAMES_TOLD = 2_000
"""Names that a completion offers of one scope or object at most: typing on asks for those that it left out."""

VALUES_TOLD = 100
"""Of these, so many are told with their values."""

_VIRTUAL = VariablePresentationHint(kind="virtual", attributes=["readOnly"])


def requested_rows(children: Children, options: ViewOptions, request: Variables) -> Iterator[Row]:
    """The rows of one request, made one by one."""
    if request.prefix is not None:
        return _named(children.named, options, request.prefix)
    if request.in_parts and not request.start and not request.count and request.filter is None:
        return _first_part(children, options)
    return children.page(options, request.filter, request.start, request.count)


def _first_part(children: Children, options: ViewOptions) -> Iterator[Row]:
    """All rows, where they are not too many; else the first ones and the row `more`, as debugpy has it."""
    few = children.named if children.named.are_few else None
    if few is not None:
        yield from few.make(options, 0, few.count)
    rows = children.indexed if few is not None else children.all_rows()
    if rows.count <= PAGED_FROM:
        yield from rows.make(options, 0, rows.count)
        return
    yield from rows.make(options, 0, PART)
    rest = Children(named=_ranges(rows, PART, rows.count))
    yield Row("more", f"{rows.count - PART:,} more", children=rest, hint=_VIRTUAL)


def _ranges(rows: Rows, start: int, stop: int) -> Rows:
    """The rows from `start` up to `stop`; below ranges of them where they are more than a part."""
    size = 1
    while size * PART < stop - start:
        size *= PART
    if size == 1:
        return Rows(stop - start, lambda options, low, high: rows.make(options, start + low, start + high))

    def make(_options: ViewOptions, low: int, high: int) -> Iterator[Row]:
        for first in range(start + low * size, min(start + high * size, stop), size):
            last = min(first + size, stop)
            children = Children(named=_ranges(rows, first, last))
            yield Row(f"[{first}:{last}]", f"{last - first:,} rows", children=children, hint=_VIRTUAL)

    return Rows(-(-(stop - start) // size), make)


def _named(rows: Rows, options: ViewOptions, prefix: str) -> Iterator[Row]:
    """Names that begin so, to be completed: the first of them with their values, the others without."""
    if rows.names is None:
        yield from (row for row in rows.make(options, 0, rows.count) if row.name.startswith(prefix))
        return
    beginning = ((at, name) for at, name in enumerate(rows.names()) if name.startswith(prefix))
    found = list(islice(beginning, NAMES_TOLD))
    told = [at for at, _ in found[:VALUES_TOLD]]
    for _, run in groupby(enumerate(told), lambda each: each[1] - each[0]):  # rows in one go where they follow another
        indices = [at for _, at in run]
        yield from rows.make(options, indices[0], indices[-1] + 1)
    for _, name in found[VALUES_TOLD:]:
        yield Row(name, "")
