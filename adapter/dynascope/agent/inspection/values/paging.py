"""Select the rows of a `variables` request: a page, a first part without paging, or names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice

from dynascope.agent.inspection.values.rows import PAGED_FROM, Children, Row, Rows, ViewOptions
from dynascope.wire.dap import VariablePresentationHint
from dynascope.wire.to_agent import Variables

PART = 100
"""The maximum number of rows that a client which cannot page gets at once, also below the row `more`."""

NAMES_TOLD = 2_000
"""The maximum number of names of one scope or object in a completion; more typing requests the others."""

VALUES_TOLD = 100
"""The number of these names sent with their values."""

_VIRTUAL = VariablePresentationHint(kind="virtual", attributes=["readOnly"])


def requested_rows(children: Children, options: ViewOptions, request: Variables) -> Iterator[Row]:
    """Yield the rows of one request, created one by one."""
    if request.prefix is not None:
        return _named(children.named, options, request.prefix)
    if request.in_parts and not request.start and not request.count and request.filter is None:
        return _first_part(children, options)
    return children.page(options, request.filter, request.start, request.count)


def _first_part(children: Children, options: ViewOptions) -> Iterator[Row]:
    """Yield all rows or, of many, the first ones and the row `more`, as debugpy does."""
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
    """Return the rows from `start` up to `stop`, grouped in ranges if they exceed a part."""
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
    """Yield rows of names that begin with `prefix`, for completion; only the first with values."""
    if rows.names is None:
        yield from (row for row in rows.make(options, 0, rows.count) if row.name.startswith(prefix))
        return
    beginning = ((at, name) for at, name in enumerate(rows.names()) if name.startswith(prefix))
    matches = list(islice(beginning, NAMES_TOLD))
    with_values = [at for at, _ in matches[:VALUES_TOLD]]
    for _, run in groupby(enumerate(with_values), lambda pair: pair[1] - pair[0]):  # consecutive rows in one call
        indices = [at for _, at in run]
        yield from rows.make(options, indices[0], indices[-1] + 1)
    for _, name in matches[VALUES_TOLD:]:
        yield Row(name, "")
