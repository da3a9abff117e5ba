"""The trail of an attempt: its lines in the order in which Dynamo traced them, and what was decided between them.

Everything is a number in a list, and each text is kept once: a trail is written at the end of every recorded compile.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct, field

DecisionKind = Literal["value", "symbol", "operation", "guard", "break"]
"""`value`: what a name is after its line; `symbol`: a condition on a symbol; `operation`: a node of the graph."""
TraceEnd = Literal["in progress", "repeated", "graph break", "failed", "uncompiled", "returned"]
"""How a trace ended. `in progress`: nothing is known of what follows the last line; `repeated`: Dynamo traced it again
from its start, and what it would have read later is not known."""
DECISION_KINDS: tuple[DecisionKind, ...] = get_args(DecisionKind)


class TracedPlace(Struct, frozen=True):
    """A line of a call; `depth` is 0 in the compiled function, `call` the number of the call."""

    path: str
    line: int
    function: str
    depth: int = 0
    call: int = 0

    def is_like(self, other: TracedPlace) -> bool:
        """Whether the other one is the same line of the same function, at the same depth."""
        return (self.line, self.depth, self.path, self.function) == (
            other.line,
            other.depth,
            other.path,
            other.function,
        )


class Decision(Struct, frozen=True):
    """`subject` is what it is about: a name, a symbol, a guard's kind and source; `text` what was decided."""

    kind: DecisionKind
    subject: str
    text: str
    place: TracedPlace


class TracedLine(Struct):
    """A line that began, and what was decided until the next one began, in order."""

    place: TracedPlace
    decisions: list[Decision] = field(default_factory=list)


class TracedCompile(Struct, kw_only=True):
    """A compile, or an attempt of one."""

    name: str
    """As Dynamo writes it: `0/1`, and `0/1_2` for attempt 2."""
    lines: list[TracedLine]
    end: TraceEnd
    failure: str = ""
    """The first line of the error with which it failed."""
    has_guards: bool = True
    """Whether the code of the guards is known: they are built at the end of a compile that did not fail."""
    other_guards: dict[str, str] = field(default_factory=dict)
    """The code of the guards that no line asked for, by kind."""
    symbols: dict[str, str] = field(default_factory=dict)
    """The source of each symbol: symbols with different names are equal if they have the same source."""

    @property
    def is_finished(self) -> bool:
        return self.end != "in progress"


_CELLS = 5
_NUMBERS = {kind: number for number, kind in enumerate(DECISION_KINDS)}


class Trail(Struct, array_like=True):
    """One attempt; a line's number is its place in `lines`, a text's its place in `texts`."""

    texts: list[str]
    calls: list[tuple[int, int, int]]
    """The path, the function and the number of the caller (-1: none) of each call."""
    lines: list[int]
    """The call and the line of each line, one after the other."""
    decisions: list[int]
    """Five numbers for each decision: the latest line begun, the decision's own line, kind, subject and text."""
    guards: list[int] = field(default_factory=list)
    """Three numbers where guards appeared: the latest line begun, the line that needed them, how many there were."""
    symbols: dict[str, str] = field(default_factory=dict)
    """The source of each symbol: `L['x'].size()[0]`."""
    is_repeated: bool = False
    """Whether Dynamo traced the frame again after this attempt."""

    def rows(self) -> Iterator[tuple[int, int, DecisionKind, str, str]]:
        """Yield the decisions: the latest line that had begun, its own line, kind, subject, text."""
        texts, cells = self.texts, self.decisions
        for start in range(0, len(cells), _CELLS):
            after, own, kind, subject, text = cells[start : start + _CELLS]
            yield after, own, DECISION_KINDS[kind], texts[subject], texts[text]


class TrailWriter:
    """Write a trail while Dynamo traces."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, int]] = []
        self._lines = array("i")
        self._latest = (-1, -1)
        self._decisions = array("i")
        self._guards = array("i")
        self._guard_count = 0
        self._texts: dict[str, int] = {}

    @property
    def latest(self) -> int:
        """Return the number of the latest line; -1 before the first."""
        return len(self._lines) // 2 - 1

    def call(self, path: str, function: str, caller: int) -> int:
        """Add a call, and return its number."""
        self.calls.append((self._text(path), self._text(function), caller))
        return len(self.calls) - 1

    def line(self, call: int, line: int) -> int:
        """Add a line that begins, unless it is the latest one, and return its number."""
        begins = call, line
        if begins != self._latest:
            self._latest = begins
            self._lines.extend(begins)
        return self.latest

    def decide(self, line: int, kind: DecisionKind, subject: str, text: str, after: int | None = None) -> None:
        """Add a decision of a line; `after`: when it was made, if not now."""
        after = self.latest if after is None else after
        self._decisions.extend((after, line, _NUMBERS[kind], self._text(subject), self._text(text)))

    def guards(self, line: int, count: int) -> None:
        """Note how many guards there are now; `line` is the one that needed those that are new."""
        if count != self._guard_count:
            self._guard_count = count
            self._guards.extend((self.latest, line, count))

    def trail(self, symbols: dict[str, str], is_repeated: bool = False) -> Trail:
        """Return what was written so far."""
        lines, decisions, guards = self._lines.tolist(), self._decisions.tolist(), self._guards.tolist()
        return Trail(list(self._texts), list(self.calls), lines, decisions, guards, symbols, is_repeated)

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))
