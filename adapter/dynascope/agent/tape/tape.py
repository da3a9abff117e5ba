"""The tape of one attempt: which line made, bound, changed or guarded what.

Everything is a number in an array, and every text is kept once: a 24-block transformer takes less than 2 MB. Time is
counted in segments: runs of instructions of one line of one call, between which Dynamo enters and leaves others.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dynascope.agent.tape.instructions import FrameId, Position

if TYPE_CHECKING:
    from dynascope.agent.tape.code import Code

Segment = int
"""The number of a segment, from 0 in order of time."""
Value = int
"""The number of a value, from 0 in the order in which values appeared."""
UNBOUND: Value = -1
NO_TEXT = -1
_SIZE_OF_TEXT = 120
"""In bytes, about, without its characters: the string's own, and its places in a list and in a dict."""
NO_FRAME: FrameId = -1
NO_CALL = -1


class Table:
    """Rows of numbers, four bytes each."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._cells = array("i")
        self._indexed = 0
        self._indices: dict[int, dict[int, list[int]]] = {}
        """The numbers of the rows by the cell in a column, of each column that was searched."""

    def __len__(self) -> int:
        return len(self._cells) // self._width

    def add(self, *cells: int) -> None:
        """Add a row."""
        self._cells.extend(cells)

    def row(self, number: int) -> tuple[int, ...]:
        """Return the row with this number."""
        start = number * self._width
        return tuple(self._cells[start : start + self._width])

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return self.rows_from(0)

    def rows_from(self, segment: int) -> Iterator[tuple[int, ...]]:
        """Return the rows from a segment on, where that is the first cell and never decreases."""
        start = bisect.bisect_left(self.column(0), segment) * self._width if segment else 0
        return zip(*(self._cells[start + column :: self._width] for column in range(self._width)), strict=True)

    def column(self, column: int) -> array[int]:
        """Return the cells of a column."""
        return self._cells[column :: self._width]

    def where(self, column: int, cell: int) -> Iterator[tuple[int, ...]]:
        """Yield the rows that have this cell, in order."""
        if self._indexed != len(self._cells):
            self._indexed, self._indices = len(self._cells), {}
        if column not in self._indices:
            index: dict[int, list[int]] = {}
            for number, each in enumerate(self.column(column)):
                index.setdefault(each, []).append(number)
            self._indices[column] = index
        yield from map(self.row, self._indices[column].get(cell, ()))

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return len(self._cells) * self._cells.itemsize


class Texts:
    """Number texts; each is kept once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self.size = 0
        """Their size in bytes, about."""
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text, a new one at its first appearance."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.all)
            self.all.append(text)
            self.size += len(text) + _SIZE_OF_TEXT
        return number

    def find(self, text: str) -> int:
        """Return the number of a text, or -1."""
        return self._numbers.get(text, -1)


class Tape:
    """What was recorded of one attempt, in tables of numbers.

    `LineWriter` writes it, `TapeWriter` more of it for a debugger, and the recording what it decides by.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        """The compile and attempt, such as `0/1_2`."""
        self.texts = Texts()
        self.calls: list[tuple[Code, int]] = []
        """The code of each call, and the call that made it, or NO_CALL. A frame has the number of its first call; a
        generator that goes on is called again."""
        self.segments = Table(4)
        """Each segment: position at which its line began, frame, line, call."""
        self.made = array("i")
        """The segment in which each value appeared."""
        self.bindings = Table(6)
        """Each name that got a value: segment, frame, name, value, text of the value, its source."""
        self.rewritten = Table(4)
        """Each name that still has its value, whose text is another by now: segment, frame, name, text or NO_TEXT."""
        self.changes = Table(3)
        """Each change of a value in place: segment, value, text of what it is then."""
        self.decided = Table(4)
        """Each value that a line decided, for a comparison: the latest segment, the line's segment, name, text."""
        self.guards = Table(3)
        """Each guard: segment, source, type."""
        self.guard_counts = Table(2)
        """How many guards there were, where there were others than before: segment, count."""
        self.symbols = Table(4)
        """Each decision on a symbol: segment, symbol, sentence, and whether it tells of a new one."""
        self.fixed = Table(2)
        """Each size of an input that became a number: segment, source."""
        self.nodes = Table(4)
        """Each node of the graph: segment, text, name, and what it calculates."""
        self.context = Table(3)
        """Each module registered and each change of torch's global state: segment, which of them, text."""
        self.stops = array("i")
        """Where the lines began at which the thread has stopped, other than at the end of a step."""

    def place(self, segment: Segment) -> tuple[Position, str, int]:
        """Return position, path and line of a segment.

        Of what Dynamo traces for a builtin, they are those of the line that calls it.
        """
        began, _, line, call = self.segments.row(segment)
        while (caller := self.calls[call][1]) != NO_CALL and self.calls[call][0].stands_for_builtin:
            segment = next(each for each in reversed(range(segment)) if self.segments.row(each)[3] == caller)
            began, _, line, call = self.segments.row(segment)
        return began, self.calls[call][0].file, line

    @property
    def size(self) -> int:
        """Return the size in bytes, about."""
        tables = (table for table in vars(self).values() if isinstance(table, Table))
        return sum(table.size for table in tables) + len(self.made) * 4 + self.texts.size
