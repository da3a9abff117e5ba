"""The changes of each pass at the end of a capture: nodes it removed, and nodes it moved."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moved:
    """A moved node; `before` and `after` are the last unmoved nodes in front of it, or None."""

    node: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class PassRun:
    """One pass: its name, and the names of the graph's nodes in order before and after it."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    result: object = None

    @property
    def removed(self) -> list[str]:
        kept = set(self.after)
        return [name for name in self.before if name not in kept]

    @property
    def moved(self) -> list[Moved]:
        """Return the fewest nodes whose move explains the new order."""
        place = {name: i for i, name in enumerate(self.before)}
        order = [name for name in self.after if name in place]
        stayed = {order[i] for i in _longest_rising([place[name] for name in order])}
        was, now = _last_before(self.before, stayed), _last_before(order, stayed)
        return [Moved(name, was[name], now[name]) for name in order if name not in stayed]

    def summary(self) -> str:
        """Return `removed 19 nodes`, `moved 3 nodes` or `changed nothing`."""
        parts = [
            f"{verb} {len(nodes)} node{'s' if len(nodes) != 1 else ''}"
            for verb, nodes in (("removed", self.removed), ("moved", self.moved))
            if nodes
        ]
        if isinstance(self.result, list) and self.result:
            parts.append(f"chose inputs {', '.join(map(str, self.result))} to move at run time")
        return ", ".join(parts) or "changed nothing"


def _last_before(order: Sequence[str], stayed: set[str]) -> dict[str, str | None]:
    """Return for each name the last unmoved one in front of it."""
    latest: dict[str, str | None] = {}
    last = None
    for name in order:
        latest[name] = last
        if name in stayed:
            last = name
    return latest


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    """Return the positions of a longest rising subsequence."""
    tails: list[int] = []
    positions: list[int] = []
    before: list[int] = [-1] * len(numbers)
    for i, number in enumerate(numbers):
        at = bisect.bisect_left(tails, number)
        before[i] = positions[at - 1] if at else -1
        if at == len(tails):
            tails.append(number)
            positions.append(i)
        else:
            tails[at] = number
            positions[at] = i
    chosen = set()
    last = positions[-1] if positions else -1
    while last >= 0:
        chosen.add(last)
        last = before[last]
    return chosen
