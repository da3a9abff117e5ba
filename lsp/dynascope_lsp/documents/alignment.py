"""Find the present lines of an earlier content of a file: the facts of an unchanged line move with it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property

_SMALL = 250_000
"""The most pairs of lines that an exhaustive comparison compares: about 20 ms."""


class Alignment:
    """The alignment of two contents, by the hashes of their lines; lines count from 1."""

    def __init__(self, then: Sequence[bytes], now: Sequence[bytes]) -> None:
        self.identical = list(then) == list(now)
        self._length = len(then)
        self._now: dict[int, int] = {} if self.identical else dict(_matches(then, now))

    def now(self, line: int) -> int | None:
        """Return the present line of an earlier one; None when it was changed or removed."""
        if self.identical:
            return line if 1 <= line <= self._length else None
        return self._now.get(line)

    def then(self, first: int, last: int) -> list[int]:
        """Return the earlier lines that are now between these lines, both included."""
        if self.identical:
            return list(range(max(first, 1), min(last, self._length) + 1))
        return [self._then[line] for line in range(first, last + 1) if line in self._then]

    def has_piece(self, first: int, last: int) -> bool:
        """Whether all these present lines existed before, next to each other."""
        then = self.then(first, last)
        return len(then) == last - first + 1 and then[-1] - then[0] == last - first

    @cached_property
    def _then(self) -> dict[int, int]:
        return {now: then for then, now in self._now.items()}


def _matches(then: Sequence[bytes], now: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return pairs of equal lines: common ones at both ends, then unique ones, recursively."""
    found: list[tuple[int, int]] = []
    todo = [(0, len(then), 0, len(now))]
    while todo:
        a, a_end, b, b_end = todo.pop()
        while a < a_end and b < b_end and then[a] == now[b]:
            found.append((a + 1, b + 1))
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and then[a_end - 1] == now[b_end - 1]:
            found.append((a_end, b_end))
            a_end, b_end = a_end - 1, b_end - 1
        if a == a_end or b == b_end:
            continue
        anchors = _anchors(then, a, a_end, now, b, b_end)
        if anchors:
            for i, j in [*anchors, (a_end, b_end)]:
                todo.append((a, i, b, j))
                a, b = i, j
        elif (a_end - a) * (b_end - b) <= _SMALL:
            matcher = SequenceMatcher(None, then[a:a_end], now[b:b_end], autojunk=False)
            for block in matcher.get_matching_blocks():
                found.extend((a + block.a + k + 1, b + block.b + k + 1) for k in range(block.size))
    return found


def _anchors(
    then: Sequence[bytes], a: int, a_end: int, now: Sequence[bytes], b: int, b_end: int
) -> list[tuple[int, int]]:
    """Return the longest common sequence of lines unique on both sides (patience diff)."""
    places = _unique(now, b, b_end)
    pairs = [(i, places[line]) for line, i in _unique(then, a, a_end).items() if line in places]
    tails: list[int] = []
    heads: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(tails, j)
        if length == len(tails):
            tails.append(j)
            heads.append(index)
        else:
            tails[length], heads[length] = j, index
        before.append(heads[length - 1] if length else -1)
    chosen: list[tuple[int, int]] = []
    at = heads[-1] if heads else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


def _unique(lines: Sequence[bytes], start: int, end: int) -> dict[bytes, int]:
    places: dict[bytes, int] = {}
    repeated: set[bytes] = set()
    for place in range(start, end):
        line = lines[place]
        if line in places:
            repeated.add(line)
        places[line] = place
    for line in repeated:
        del places[line]
    return places
