"""Measure what the guards of a cache entry cost, on a copy of them.

torch times only whole lookups. Here a clock is read between the guards: it is a guard that is always true, added to
each guard manager of the copy. The clock disturbs what it measures, so it only divides the times of lookups without it:
of all guards, and of all but those of a large subtree.

The clock is made of functions in C: no other thread runs Python between two guards, and may meet the state of those on
relations of values, which the copy shares. torch itself copies guards for recompiles (`diff_guard_root`, 2.6).
"""

from __future__ import annotations

import functools
import itertools
import operator
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.guards.tree import children, evaluated

_now = time.perf_counter_ns
_NUMBERS = 32
_LARGE = 12
"""A subtree with at least this part of a lookup is large."""


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
    """Return the costs for a frame's locals; None where a guard fails for them.

    `guards` is a `GuardManagerWrapper`. Calls `RootGuardManager.clone_manager`, `.check` (2.6), and
    `GuardManager.add_lambda_guard` (2.5).
    """
    copy = guards.root.clone_manager(lambda manager: True)
    originals, copies = evaluated(guards.root), evaluated(copy)
    if len(originals) != len(copies) or not copy.check(values):
        return None
    call = shortest(type(copy)(), {}, 50)
    repeats = 5 + 2_000 // len(copies)
    lookup = max(shortest(copy, values, repeats) - call, 1.0)
    reading = _reading()
    intervals = _Clock(copies).intervals(copy, values, repeats)
    intervals[0] -= call
    own = {one: max(interval - reading, 0.0) for one, interval in zip(originals, intervals, strict=False)}
    return _Division(guards.root, values, lookup + call, repeats).divided(own, max(intervals[-1], 0.0))


class _Division:
    """Divides the time of a lookup: to large subtrees by lookups without them, the rest by the clock."""

    def __init__(self, root: Any, values: dict[str, Any], whole: float, repeats: int) -> None:
        self._root, self._values, self._whole, self._repeats = root, values, whole, repeats
        self._all = set(evaluated(root))
        self._own: dict[Any, float] = {}
        self._last = 0.0

    def divided(self, by_clock: dict[Any, float], last: float) -> Costs:
        """Return the costs; `last` is that of the guards after the tree by the clock."""
        lookup = self._whole - shortest(type(self._root)(), {}, 50)
        self._own, self._last = by_clock, last
        self._divide(self._root, lookup, lookup / _LARGE)
        return Costs(lookup, self._own, self._last)

    def _divide(self, manager: Any, time: float, large: float) -> None:
        """Make the costs of a manager and all below it add up to `time`."""
        parts = [evaluated(child) for child in children(manager)]
        by_clock = [sum(self._own[each] for each in part) for part in parts]
        total = sum(by_clock) + self._own[manager] + (self._last if manager is self._root else 0.0)
        measured = {i: self._saved(parts[i]) for i, clock in enumerate(by_clock) if clock >= large}
        if len(measured) == 1 and max(by_clock) > 0.9 * total:
            measured = {i: time * by_clock[i] / total for i in measured}  # nearly all of it: there is nothing to divide
        scale = min(1.0, time / (sum(measured.values()) or 1.0))
        rest = max(time - sum(measured.values()), 0.0) / ((total - sum(by_clock[i] for i in measured)) or 1.0)
        for i, part in enumerate(parts):
            if i in measured:
                self._divide(part[0], measured[i] * scale, large)
            else:
                self._own.update((each, self._own[each] * rest) for each in part)
        self._own[manager] *= rest
        if manager is self._root:
            self._last *= rest

    def _saved(self, part: list[Any]) -> float:
        """Return the nanoseconds by which a lookup without these managers is shorter."""
        kept = self._all.difference(part)
        without = self._root.clone_manager(kept.__contains__)
        return max(self._whole - shortest(without, self._values, self._repeats), 1.0)


def _reading() -> float:
    """Return the nanoseconds that a reading of the clock adds to a lookup of guards on numbers.

    Calls `GuardManager.list_getitem_manager` and `.add_equals_match_guard` (2.5).
    """
    numbers = list(range(_NUMBERS))
    module = sys.modules["torch._dynamo.guards"]
    root = module.RootGuardManager()
    for number in numbers:
        child = root.list_getitem_manager(number, "", number, module.GuardManagerType.GUARD_MANAGER)
        child.add_equals_match_guard(number, [], None)
    without = shortest(root, numbers, 50)
    return max((sum(_Clock(evaluated(root)).intervals(root, numbers, 50)) - without) / (_NUMBERS + 1), 0.0)


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

    def intervals(self, root: Any, values: Any, repeats: int) -> list[float]:
        """Return the shortest times between the managers, and from the last to the end.

        The time of a manager is that from the one before; it is 0 for a manager that lookups do not reach.
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


def shortest(root: Any, values: Any, repeats: int) -> float:
    """Return the nanoseconds of the shortest of repeated lookups, the call from Python included."""
    shortest = float("inf")
    for _ in range(repeats + 2):
        begun = _now()
        root.check(values)
        shortest = min(shortest, _now() - begun)
    return shortest
