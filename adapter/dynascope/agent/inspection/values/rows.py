"""Represent rows of the Variables view and their children, which are created on request: a page, a part, or by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import Any, Literal, NamedTuple

import msgspec

from dynascope.agent.inspection.values.locations import LocationReferences, Whereabouts
from dynascope.agent.internals.variables.variables import SideEffects
from dynascope.wire.beyond_dap import goto_target_id
from dynascope.wire.dap import Variable, VariablePresentationHint
from dynascope.wire.to_agent import Variables

_READ_ONLY = VariablePresentationHint(attributes=["readOnly"])

_OF_HISTORY = "dynascope.history"

PAGE_LIMIT = 10_000
"""The maximum number of rows sent to a client that requests all children at once."""

PAGED_FROM = 500
"""The number of named rows from which they are reported as indexed, since DAP pages only those."""

PART = 100
"""The maximum number of rows that a client which cannot page gets at once, also below the row `more`."""

NAMES_TOLD = 2_000
"""The maximum number of names of one scope or object in a completion; more typing requests the others."""

VALUES_TOLD = 100
"""The number of these names sent with their values."""

VIRTUAL = VariablePresentationHint(kind="virtual")
"""For rows that Dynascope adds: there is no such attribute."""


@dataclass(slots=True)
class ViewOptions:
    """The view options of a request, and Dynamo's pending changes (None for running frames)."""

    effects: SideEffects | None
    hexadecimal: bool = False
    in_place_of: Callable[[ViewOptions, str, Any, str | None], Row | None] = lambda options, name, value, path: None
    """Returns the row of the variable with which Dynamo tracks a real value, or None."""
    whole: bool = False
    """Whether texts are for the clipboard: complete, not previews."""
    output: Any = None
    """Dynamo's graph and guards so far (None for running frames)."""
    history: Any = None
    """The recorded history (`history_rows.History`) of what the frame shows; None where none is recorded."""
    decided_only: bool = False
    """Whether texts leave out what only this call has: the numbers that symbols stand for, and values in containers
    that Dynamo has not read."""


@dataclass(slots=True)
class Row:
    """One variable; `path` is the expression that reaches it, if there is one."""

    name: str
    value: str
    type: str | None = None
    path: str | None = None
    children: Children | None = None
    hint: VariablePresentationHint | None = None
    made_at: Whereabouts = None
    """The user's line that created it."""
    written_at: Whereabouts = None
    """The definition of its value, a function or an object's class."""
    is_settable: bool = False
    """Whether a client may offer to set it: true for names of the debug console."""
    is_number: bool = False
    """Whether its variable is a number, a bool, a string or None, symbolic or not."""
    is_tried: bool = False
    """Whether a client may offer to set it, which tries another value: true for locals that are numbers."""
    subject: object | None = None
    """The subject of a data breakpoint on this row: its variable or symbolic number, or a `Datum`."""
    position: int | None = None
    """How many instructions were traced when the line of a history began: the way there."""


class Datum(NamedTuple):
    """The subject of a row without an expression: a source, symbol or graph node, by name."""

    kind: Literal["source", "symbol", "node"]
    name: str


Maker = Callable[[ViewOptions, int, int], Iterator[Row]]
"""Yields the rows from `start` up to `stop` (both within the count), one by one."""


class Rows:
    """Rows that `make` creates a page at a time; they are counted on request."""

    __slots__ = ("_count", "are_few", "make", "names")

    def __init__(
        self,
        count: int | Callable[[], int],
        make: Maker,
        are_few: bool = False,
        names: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        """Take `are_few` for rows that need no paging and are not counted before they are created.

        `names` returns the rows' names in order (perhaps without the last), if known without creating any.
        """
        self._count = count
        self.make = make
        self.are_few = are_few
        self.names = names

    @property
    def count(self) -> int:
        if not isinstance(self._count, int):
            self._count = self._count()
        return self._count


NONE = Rows(0, lambda _options, _start, _stop: iter(()))


@dataclass(slots=True)
class Children:
    """The children of a row: `named` ones (attributes), then `indexed` ones (paged elements)."""

    named: Rows = NONE
    indexed: Rows = NONE

    @property
    def counts(self) -> tuple[int, int] | None:
        """Return the numbers of named and indexed rows to report; None without paging."""
        if self.indexed.count:
            return self.named.count, self.indexed.count
        if not self.named.are_few and self.named.count > PAGED_FROM:
            return 0, self.named.count
        return None

    def page(
        self, options: ViewOptions, which: Literal["named", "indexed"] | None, start: int | None, count: int | None
    ) -> Iterator[Row]:
        """Yield the rows of one DAP `variables` request; a `count` of 0 or None means all."""
        parts = [self.named, self.indexed]
        if which is not None:
            counts = self.counts
            if self.indexed.count or counts is None:
                parts = [self.named if which == "named" else self.indexed]
            elif which == "named":
                parts = []  # they were reported as indexed
        first = max(start or 0, 0)
        last = first + (count if count and count > 0 else PAGE_LIMIT)
        rows = joined(parts)
        return rows.make(options, first, min(last, rows.count))

    def all_rows(self) -> Rows:
        """Return the named rows followed by the indexed ones."""
        return joined([self.named, self.indexed])


def joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of all `parts`, concatenated."""

    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        pages, offset = [], 0
        for rows in parts:
            low, high = max(start - offset, 0), min(stop - offset, rows.count)
            if low < high:
                pages.append(rows.make(options, low, high))
            offset += rows.count
        return chain.from_iterable(pages)

    return Rows(lambda: sum(rows.count for rows in parts), make)


def fixed(rows: list[Row]) -> Rows:
    """Return existing rows as Rows."""
    return Rows(len(rows), lambda _options, start, stop: islice(iter(rows), start, stop))


def computed(make: Callable[[ViewOptions], list[Row]]) -> Rows:
    """Return few rows whose number is known only once created: they count as one page."""
    return Rows(PAGE_LIMIT, lambda options, start, stop: islice(iter(make(options)), start, stop), are_few=True)


def few(rows: list[Row] | Callable[[ViewOptions], list[Row]]) -> Children:
    """Return named children: existing rows, or few that are created on request."""
    return Children(named=fixed(rows) if isinstance(rows, list) else computed(rows))


def virtual(name: str, value: str, **more: Any) -> Row:
    """Return a row that Dynascope adds; `more` are other fields of it."""
    return Row(name, value, hint=VIRTUAL, **more)


def to_variable(row: Row, reference: int, locations: LocationReferences) -> Variable:
    """Return the row as DAP's Variable, with counts where a client can use them to page."""
    counts = row.children.counts if row.children is not None else None
    made_at = locations.reference(row.made_at)
    return Variable(
        name=row.name,
        value=row.value,
        variables_reference=reference,
        type=row.type,
        evaluate_name=row.path,
        named_variables=counts[0] if counts else None,
        indexed_variables=counts[1] if counts else None,
        presentation_hint=row.hint if row.is_settable or row.is_tried else _read_only(row.hint),
        declaration_location_reference=made_at,
        # VS Code shows only this one as a link, so it also has the line of a node or guard
        value_location_reference=locations.reference(row.written_at) or made_at,
        target_id=goto_target_id(row.position) if row.position is not None else None,
        menu_context=_OF_HISTORY if row.position is not None else None,
    )


def _read_only(hint: VariablePresentationHint | None) -> VariablePresentationHint:
    if hint is None:
        return _READ_ONLY
    return msgspec.structs.replace(hint, attributes=[*(hint.attributes or ()), "readOnly"])


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
    yield Row("more", f"{rows.count - PART:,} more", children=rest, hint=VIRTUAL)


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
            yield Row(f"[{first}:{last}]", f"{last - first:,} rows", children=children, hint=VIRTUAL)

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


@dataclass(frozen=True, slots=True)
class Heading:
    """A DAP Scope before it has a reference; the client opens an expensive one only on demand."""

    name: str
    children: Children
    expensive: bool = False
    hint: str | None = None
    empty: str = "(empty)"
    """The text that the scope shows when it is empty."""


GRAPH = "Graph"
"""The scope whose source is the document of a stop: the graph so far."""
