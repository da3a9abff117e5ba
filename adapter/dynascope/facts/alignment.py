"""Find the present lines of an earlier content of a file: the facts of an unchanged line move with it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property

_THOROUGH = 1_500
"""The most lines that are compared with regard to lines that come often, too: about 15 ms."""


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


def common_ends(then: Sequence[object], now: Sequence[object]) -> tuple[int, int]:
    """Return how many lines are the same at the beginning, and of the others at the end."""
    length = min(len(then), len(now))
    head = next((i for i in range(length) if then[i] != now[i]), length)
    return head, next((i for i in range(length - head) if then[-1 - i] != now[-1 - i]), length - head)


def _matches(then: Sequence[bytes], now: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return pairs of equal lines: the lines at both ends, and the matches of difflib between."""
    head, tail = common_ends(then, now)
    between = then[head : len(then) - tail], now[head : len(now) - tail]
    matcher = SequenceMatcher(None, *between, autojunk=len(between[1]) > _THOROUGH)
    found = [(0, 0, head), *((head + i, head + j, size) for i, j, size in matcher.get_matching_blocks())]
    found.append((len(then) - tail, len(now) - tail, tail))
    return [(i + k + 1, j + k + 1) for i, j, size in found for k in range(size)]
