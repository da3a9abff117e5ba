"""The trail of an attempt: its lines in the order in which Dynamo traced them, and what was decided between them.

Everything is a number in a list, and each text is kept once: a trail is written at the end of every recorded compile.
"""

from __future__ import annotations

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
    sizes: dict[str, str] = field(default_factory=dict)
    """The size of each symbol in the traced call, by the source of the symbol: `L['x'].size()[0]`."""

    @property
    def is_finished(self) -> bool:
        return self.end != "in progress"


_CELLS = 5


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
