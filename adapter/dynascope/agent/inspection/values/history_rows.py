"""Show the history of a value: the lines of this compile that made, changed, specialised or guarded it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from dynascope.agent.inspection.values.rows import PAGE_LIMIT, VIRTUAL, Children, Row, Rows, ViewOptions, computed
from dynascope.facts.file_names import short_name


class HistoryEntry(NamedTuple):
    """One line of a compile that made, changed, guarded or specialised a value."""

    position: int
    """Where the line began, as a number of instructions traced."""
    what: str
    """What became of the value: `made`, `input`, `changed`, `guarded`, `specialised` …"""
    text: str
    path: str
    line: int

    @property
    def place(self) -> str:
        """Return file name and line."""
        return f"{short_name(self.path)}:{self.line}"


class Since(NamedTuple):
    """The changes since a moment of this compile."""

    title: str
    """The moment, such as `since the previous stop`."""
    place: str
    """Its file name and line, or why there is none."""
    counts: Counter[str]
    """How many there are of each kind."""
    entries: Sequence[HistoryEntry]
    """Oldest first."""


class History(Protocol):
    """The history of what one frame shows; each list is oldest first, and None if it cannot be read."""

    def of_name(self, name: str, variable: object) -> list[HistoryEntry] | None:
        """Return what became of the values that the name stood for, this variable being the latest."""

    def of_value(self, variable: object) -> list[HistoryEntry] | None:
        """Return what became of a value."""

    def of_guard(self, source: str, kind: str | None = None) -> list[HistoryEntry] | None:
        """Return the line that first needed this guard; without a kind, those of all on the source."""

    def of_symbol(self, name: str) -> list[HistoryEntry] | None:
        """Return the lines that made and decided this symbol."""

    def of_shape_guard(self, guard: Any) -> list[HistoryEntry] | None:
        """Return the line that needed this guard on symbols."""

    def of_node(self, node: Any) -> list[HistoryEntry] | None:
        """Return the lines that made its input nodes and the node itself, and those that changed it."""

    def changes(self) -> list[Since] | None:
        """Return what has changed since the previous stop, this line's begin, and each checkpoint."""

    def name_checkpoint(self, name: str) -> None:
        """Give the present moment a name, from which on changes are told."""


Reading = Callable[[History], list[HistoryEntry] | None]


def history_row(reading: Reading) -> Callable[[ViewOptions], list[Row]]:
    """Return a function that makes the row `history`, or none where no history is recorded."""

    def make(options: ViewOptions) -> list[Row]:
        if options.history is None:
            return []
        entries = reading(options.history)
        if not entries:
            return []
        latest = entries[-1].place
        text = f"{len(entries)} lines, the latest {latest}" if len(entries) > 1 else latest
        return [Row("history", text, children=children_of(entries), hint=VIRTUAL)]

    return make


def children_of(entries: Sequence[HistoryEntry]) -> Children:
    """Return a row for each line, which leads to it."""
    return Children(named=Rows(PAGE_LIMIT, lambda _, start, stop: islice(_rows(entries), start, stop), are_few=True))


def _rows(entries: Sequence[HistoryEntry]) -> Iterator[Row]:
    """Yield a row for each line, named after it; a line that recurs is numbered."""
    seen = Counter[tuple[str, int]]()
    for entry in entries:
        seen[entry.path, entry.line] += 1
        times = seen[entry.path, entry.line]
        name = entry.place + (f" ({times})" if times > 1 else "")
        text = f"{entry.what} {entry.text}".rstrip()
        yield Row(name, text, hint=VIRTUAL, made_at=(entry.path, entry.line), position=entry.position)


def with_history(row: Row, reading: Reading) -> Row:
    """Return the row with `history` as the last of its named children, where one is recorded."""
    before = row.children or Children()
    row.children = Children(_followed_by(before.named, history_row(reading)), before.indexed)
    return row


def _followed_by(rows: Rows, last: Callable[[ViewOptions], list[Row]]) -> Rows:
    if rows.are_few:
        return computed(lambda options: [*rows.make(options, 0, rows.count), *last(options)])

    def make(options: ViewOptions, start: int, stop: int) -> Any:
        yield from rows.make(options, start, min(stop, rows.count))
        if stop > rows.count:
            yield from last(options)

    return Rows(lambda: rows.count + 1, make, names=rows.names)


def history_lines(row: Row, options: ViewOptions) -> list[str]:
    """Return the texts of the rows below a row's `history`, oldest first."""
    rows = row.children.named.make(options, 0, row.children.named.count) if row.children is not None else iter(())
    below = [each for each in rows if each.name == "history" and each.hint is VIRTUAL]
    if not below or below[-1].children is None:
        return []
    lines = below[-1].children.named
    return [f"{line.name} {line.value}" for line in lines.make(options, 0, lines.count)]
