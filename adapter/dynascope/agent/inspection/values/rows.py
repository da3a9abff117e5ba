"""A row of the Variables view and what lies below it, made only when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

import msgspec

from dynascope.agent.inspection.values.locations import Locations, Whereabouts
from dynascope.agent.internals.variables.side_effects import SideEffects
from dynascope.wire.dap import Variable, VariablePresentationHint

_READ_ONLY = VariablePresentationHint(attributes=["readOnly"])

PAGE_LIMIT = 10_000
"""Rows sent to a client that asks for all children at once."""

PAGED_FROM = 500
"""Named rows from which on clients are told to page through them, as DAP has it for indexed ones only."""


def nothing_in_place(_options: ViewOptions, _name: str, _value: Any, _path: str | None) -> Row | None:
    return None


@dataclass(slots=True)
class ViewOptions:
    """How this request wants to see things, and where pending changes are found (None for frames that run)."""

    effects: SideEffects | None
    hexadecimal: bool = False
    in_place_of: Callable[[ViewOptions, str, Any, str | None], Row | None] = nothing_in_place
    """The row of what Dynamo tracks in the place of a real value, None when it tracks nothing."""
    whole: bool = False
    """Texts are for the clipboard: complete, where the view has previews."""
    output: Any = None
    """Dynamo's graph and guards so far (None for frames that run)."""


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
    """The user's line that it comes from."""
    written_at: Whereabouts = None
    """Where its value, a function or an object's class, is written."""
    is_settable: bool = False
    """Whether a client may offer to set it: a name of the debug console's own."""
    subject: object | None = None
    """What a data breakpoint on this row watches: the variable or symbolic number it shows, or a `Datum`."""


class Datum(NamedTuple):
    """What a row without an expression is about: a guard's `source`, a `symbol` or a graph's `node`, by name."""

    kind: Literal["source", "symbol", "node"]
    name: str


Maker = Callable[[ViewOptions, int, int], Iterator[Row]]
"""Makes the rows from `start` up to `stop` (both within the count), one by one."""


class Rows:
    """A number of rows (counted when somebody wants to know) that `make` makes a page at a time."""

    __slots__ = ("_count", "are_few", "make", "names")

    def __init__(
        self,
        count: int | Callable[[], int],
        make: Maker,
        are_few: bool = False,
        names: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        """`are_few`: their number is not known before they are made, and needs no paging.

        `names`: those of the rows in order (of a last row perhaps not), where they are known without making any.
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


def no_rows(_options: ViewOptions, _start: int, _stop: int) -> Iterator[Row]:
    return iter(())


NONE = Rows(0, no_rows)


@dataclass(slots=True)
class Children:
    """The children of a row: `named` ones (attributes), then `indexed` ones (elements, which clients page through)."""

    named: Rows = NONE
    indexed: Rows = NONE

    @property
    def counts(self) -> tuple[int, int] | None:
        """How many named and indexed rows to tell the client of; None when there is nothing to page."""
        if self.indexed.count:
            return self.named.count, self.indexed.count
        if not self.named.are_few and self.named.count > PAGED_FROM:
            return 0, self.named.count
        return None

    def page(
        self, options: ViewOptions, which: Literal["named", "indexed"] | None, start: int | None, count: int | None
    ) -> Iterator[Row]:
        """The rows of one DAP `variables` request; a `count` of 0 or None means all."""
        parts = [self.named, self.indexed]
        if which is not None:
            counts = self.counts
            if self.indexed.count or counts is None:
                parts = [self.named if which == "named" else self.indexed]
            elif which == "named":
                parts = []  # they were told of as indexed
        first = max(start or 0, 0)
        last = first + (count if count and count > 0 else PAGE_LIMIT)
        rows = joined(parts)
        return rows.make(options, first, min(last, rows.count))

    def all_rows(self) -> Rows:
        """The named rows, then the indexed ones."""
        return joined([self.named, self.indexed])


def joined(parts: Sequence[Rows]) -> Rows:
    """The rows of all these, one after another."""

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
    """Rows that exist already."""
    return Rows(len(rows), lambda _options, start, stop: islice(iter(rows), start, stop))


def computed(make: Callable[[ViewOptions], list[Row]]) -> Rows:
    """Few rows whose number is known only once they are made: they count as one page."""
    return Rows(PAGE_LIMIT, lambda options, start, stop: islice(iter(make(options)), start, stop), are_few=True)


def to_variable(row: Row, reference: int, locations: Locations) -> Variable:
    """The row as DAP's Variable; counts are given where a client can use them to page."""
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
        presentation_hint=row.hint if row.is_settable else _read_only(row.hint),
        declaration_location_reference=made_at,
        # VS Code makes a link of this one alone, so a node and a guard lead to their line by it, too
        value_location_reference=locations.reference(row.written_at) or made_at,
    )


def _read_only(hint: VariablePresentationHint | None) -> VariablePresentationHint:
    if hint is None:
        return _READ_ONLY
    return msgspec.structs.replace(hint, attributes=[*(hint.attributes or ()), "readOnly"])
