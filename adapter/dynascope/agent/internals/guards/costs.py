"""Measure what the guards of a cache entry cost, on a copy of them.

torch times only whole lookups. Here a clock is read between the guards: it is a guard that is always true, added to
each guard manager of the copy. A lookup of the copy without the clock tells the sum; the clock tells each one's share
of it. The clock is made of functions in C: no other thread runs Python between two guards, and may meet the state of
those on relations of values, which the copy shares. torch itself copies guards for recompiles (`diff_guard_root`, 2.6).
"""

from __future__ import annotations

import functools
import itertools
import operator
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.guards.tree import evaluated

_now = time.perf_counter_ns


@dataclass(slots=True)
class Costs:
    """Nanoseconds, of a lookup that succeeds and has been made before."""

    lookup: float
    """Of all guards, measured without the clock."""
    own: dict[Any, float]
    """By guard manager: of finding the value and of the guards on it; missing where torch skips them."""
    last: float
    """Of the guards after the tree."""


def measure(guards: Any, values: dict[str, Any]) -> Costs | None:
    """Return the costs of a `GuardManagerWrapper` for a frame's locals; None where a guard fails for them.

    Calls `RootGuardManager.clone_manager`, `.check` (2.6) and `GuardManager.add_lambda_guard` (2.5).
    """
    copy = guards.root.clone_manager(lambda manager: True)
    originals, copies = evaluated(guards.root), evaluated(copy)
    if len(originals) != len(copies) or not copy.check(values):
        return None
    empty = type(copy)()
    call = shortest(empty, {}, 50)
    repeats = 5 + 2_000 // len(copies)
    lookup = max(shortest(copy, values, repeats) - call, 1.0)
    reading = min(_Clock([empty] * 20).intervals(empty, {}, 10)[1:20])
    intervals = _Clock(copies).intervals(copy, values, repeats)
    intervals[0] -= call
    shares = [max(interval - reading, 0.0) for interval in intervals[:-1]] + [max(intervals[-1], 0.0)]
    scale = lookup / sum(shares)
    own = {manager: share * scale for manager, share in zip(originals, shares, strict=False)}
    return Costs(lookup, own, shares[-1] * scale)


class _Clock:
    """The times at which a lookup has come to the guard managers of a tree."""

    def __init__(self, managers: Sequence[Any]) -> None:
        """Add a reading of the clock behind the guards of each manager that takes one."""
        readings, self._times = itertools.tee(iter(_now, None))
        self._count = len(managers)
        self._numbers: list[int] = []
        self._may_be_skipped: set[int] = set()
        self._come_to: list[int] = []
        """Number and time of each manager reached of those that `_may_be_skipped`."""
        read = functools.partial(next, readings)
        for number, manager in enumerate(managers):
            skipped = manager.is_guarded_value_immutable()
            note = map(self._come_to.__iadd__, zip(itertools.repeat(number), readings, strict=False))
            try:
                manager.add_lambda_guard(functools.partial(next, note) if skipped else read, [], None)
            except RuntimeError:  # a dict's manager takes none: its own part counts for its first key or value
                continue
            self._numbers.append(number)
            if skipped:
                self._may_be_skipped.add(number)

    def intervals(self, root: Any, values: dict[str, Any], repeats: int) -> list[float]:
        """Return the shortest time up to each manager from the one before, and from the last to the end.

        It is 0 for a manager that lookups do not reach.
        """
        runs: list[list[int]] = []
        numbers: list[int] = []
        for repeat in range(repeats + 2):
            self._come_to.clear()
            begun = _now()
            root.check(values)
            ended = _now()
            reached = self._may_be_skipped.intersection(self._come_to[::2])
            numbers = [each for each in self._numbers if each in reached or each not in self._may_be_skipped]
            times = [begun, *itertools.islice(self._times, len(numbers)), ended]
            if repeat >= 2:  # the first lookups fill caches, torch's own too
                runs.append(list(map(operator.sub, times[1:], times)))
        shortest = [float(min(each)) for each in zip(*runs, strict=True)]
        found = dict(zip(numbers, shortest, strict=False))
        return [found.get(number, 0.0) for number in range(self._count)] + shortest[-1:]


def shortest(root: Any, values: dict[str, Any], repeats: int) -> float:
    """Return the nanoseconds of the shortest of repeated lookups, the call from Python included."""
    shortest = float("inf")
    for _ in range(repeats + 2):
        begun = _now()
        root.check(values)
        shortest = min(shortest, _now() - begun)
    return shortest
