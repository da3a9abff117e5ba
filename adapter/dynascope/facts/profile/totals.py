"""Add up where time went by function and by phase, over all compiles of a launch."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dynascope.facts.profile.tree import Node

Key = tuple[str, str, int]
"""Path, name and first line of a function; "" and 0 for a phase."""


class Total(Struct):
    """The times of one function or phase wherever it is in the trees."""

    key: Key
    own: float = 0.0
    """Without what is below it."""
    seconds: float = 0.0
    """With what is below it; a function below itself counts once."""
    count: int = 0
    callers: dict[Key, tuple[float, float, int]] = {}
    """Own time, time with what is below and count, by what it is directly below."""

    @property
    def is_function(self) -> bool:
        return self.key[2] > 0


def totals(roots: Iterable[Node]) -> list[Total]:
    """Return the totals, the largest own time first."""
    found: dict[Key, Total] = {}
    for root in roots:
        _add(root, (), found)
    return sorted(found.values(), key=lambda each: each.own, reverse=True)


def _add(node: Node, above: tuple[Key, ...], found: dict[Key, Total]) -> None:
    key = key_of(node)
    total = found.setdefault(key, Total(key, callers={}))
    total.own += node.own
    total.count += node.count
    if key not in above:
        total.seconds += node.seconds
    if above:
        own, seconds, count = total.callers.get(above[-1], (0.0, 0.0, 0))
        total.callers[above[-1]] = own + node.own, seconds + node.seconds, count + node.count
    for child in node.children:
        _add(child, (*above, key), found)


def key_of(node: Node) -> Key:
    """Return what `Total.key` has for a node."""
    return node.path, node.name, node.line
