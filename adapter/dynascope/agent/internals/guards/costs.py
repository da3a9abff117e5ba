"""Evaluate the guards of a cache entry for given values, and measure what they cost, on a copy of them.

torch times only whole lookups. Here a clock is read between the guards: it is a guard that is always true, added to
each guard manager of the copy. The clock disturbs what it measures, so it only divides the times of lookups without it:
of all guards, and of all but those of a large subtree.

The clock is made of functions in C: no other thread runs Python between two guards, and may meet the state of those on
relations of values, which the copy shares. torch itself copies guards for recompiles (`diff_guard_root`, 2.6).
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.guards.tree import evaluated, with_depths


@dataclass(slots=True)
class Checked:
    """The outcome: which guard failed, None when all are true, and how many were evaluated."""

    failed: str | None
    evaluated: int
    place: tuple[str, int] | None = None
    """The innermost line in a file of the stack for which the guard was made, where torch tells it (2.13)."""


def check(guards: Any, values: dict[str, Any]) -> Checked:
    """Evaluate a `GuardManagerWrapper` for a frame's locals, up to the first guard that fails.

    Calls `check_verbose` (2.5), which unlike `check` neither counts failures nor orders the guards by them. Of a guard
    with several conditions the first false one is found as `guards.get_guard_fail_reason_helper` does (2.5).
    """
    found = guards.root.check_verbose(values)
    evaluated = int(found.num_guards_executed)
    if found.result:
        return Checked(None, evaluated)
    parts = [str(part) for part in found.verbose_code_parts]
    scope = {"L": values, "G": guards.global_scope["G"], **guards.closure_vars}
    false = [part for part in parts if len(parts) > 1 and _is_false(part, dict(guards.global_scope), scope)]
    return Checked((false or parts or ["a guard"])[0], evaluated, _place(getattr(found, "user_stack", None)))


def _place(stack: Any) -> tuple[str, int] | None:
    in_files = [(str(frame.filename), int(frame.lineno or 0)) for frame in stack or () if frame.filename[:1] != "<"]
    return in_files[-1] if in_files else None


def modes_wanted(guards: Any) -> list[str] | None:
    """Return the classes of the torch function modes that guards want; None if unknown.

    They are in the closure of `make_torch_function_mode_stack_guard` (2.6).
    """
    guard = guards.closure_vars.get("___check_torch_function_mode_stack")
    modes = inspect.getclosurevars(guard).nonlocals.get("types") if inspect.isfunction(guard) else None
    return None if modes is None else [mode.__name__ for mode in modes]


def _is_false(part: str, variables: dict[str, Any], scope: dict[str, Any]) -> bool:
    try:
        return eval(part, variables, scope) is False
    except Exception:  # a part that needs what is no longer there
        return False


_now = time.perf_counter_ns
_NUMBERS = 32
_LARGE = 12
"""A subtree with at least this part of a lookup is large."""


@dataclass
class Costs:
    """The cost of guards that all hold, in nanoseconds, once torch's caches are filled."""

    lookup: float
    """The time of the whole lookup, measured without the clock."""
    own: dict[Any, float]
    """For each guard manager, the time to get its value and evaluate the guards on it; 0 if torch skips it."""
    last: float
    """The time of the epilogue guards, which torch evaluates after the tree."""
    sizes: list[int]
    """For each guard manager, in the order of `own`, how many are in its subtree, itself included."""

    @functools.cached_property
    def subtrees(self) -> dict[Any, tuple[float, int, int]]:
        """Return the time of each manager's subtree, and its first and last position in `own`."""
        until = [0.0, *itertools.accumulate(self.own.values())]
        ends = list(map(operator.add, itertools.count(), self.sizes))
        times = map(operator.sub, map(until.__getitem__, ends), until)
        return dict(zip(self.own, zip(times, itertools.count(), ends, strict=False), strict=True))


def measure(guards: Any, values: dict[str, Any]) -> Costs | None:
    """Return the costs for a frame's locals; None where a guard fails for them.

    `guards` is a `GuardManagerWrapper`. Calls `RootGuardManager.clone_manager`, `.check` (2.6), and
    `GuardManager.add_lambda_guard` (2.5).
    """
    copy = guards.root.clone_manager(lambda manager: True)
    tree, copies = with_depths(guards.root), evaluated(copy)
    if len(tree) != len(copies) or not copy.check(values):
        return None
    call = shortest(type(copy)(), {}, 50)
    repeats = 2 + 2_000 // len(copies)
    whole = shortest(copy, values, repeats)
    reading = _reading()
    *intervals, last = _Clock(copies).intervals(copy, values, repeats)
    intervals[0] -= call
    own = [max(interval - reading, 0.0) for interval in intervals]
    division = _Division(tree, values, whole, repeats)
    last = division.divide(own, max(last, 0.0), max(whole - call, 1.0))
    managers = (manager for manager, _ in tree)
    return Costs(max(whole - call, 1.0), dict(zip(managers, own, strict=True)), last, division.sizes)


class _Division:
    """Divides the time of a lookup: to large subtrees by lookups without them, the rest by the clock."""

    def __init__(self, tree: list[tuple[Any, int]], values: Any, whole: float, repeats: int) -> None:
        self._managers = [manager for manager, _ in tree]
        self._all = set(self._managers)
        self._values, self._whole, self._repeats = values, whole, repeats
        self.sizes = [1] * len(tree)
        """The number of managers in the subtree of each, itself included."""
        unfinished: list[tuple[int, int]] = []
        for number, (_, depth) in enumerate([*tree, (None, 0)]):
            while unfinished and unfinished[-1][1] >= depth:
                first, _ = unfinished.pop()
                self.sizes[first] = number - first
            unfinished.append((number, depth))

    def divide(self, own: list[float], last: float, lookup: float) -> float:
        """Make the costs by the clock add up to `lookup`; return that of the guards after the tree."""
        waiting = [(0, lookup)]
        while waiting:
            number, wanted = waiting.pop()
            parts = self._parts(number)
            by_clock = {part: sum(own[part : part + self.sizes[part]]) for part in parts}
            total = own[number] + sum(by_clock.values()) + (0.0 if number else last)
            large = {part: clock for part, clock in by_clock.items() if clock >= lookup / _LARGE}
            measured = (
                {part: self._saved(part) for part in large}
                if self._divides(large, total)
                else {part: wanted * clock / total for part, clock in large.items()}
            )
            scale = min(1.0, wanted / (sum(measured.values()) or 1.0))
            left, by_clock_left = max(wanted - sum(measured.values()), 0.0), total - sum(large.values())
            rest = left / by_clock_left if by_clock_left >= 1.0 else 1.0
            waiting += [(part, saved * scale) for part, saved in measured.items()]
            own[number] = own[number] * rest if by_clock_left >= 1.0 else left
            for part in by_clock.keys() - measured.keys():
                own[part : part + self.sizes[part]] = [each * rest for each in own[part : part + self.sizes[part]]]
            last = last if number else last * rest
        return last

    def _parts(self, number: int) -> list[int]:
        found, part = [], number + 1
        while part < number + self.sizes[number]:
            found.append(part)
            part += self.sizes[part]
        return found

    def _divides(self, large: dict[int, float], total: float) -> bool:
        """Whether there is something to divide: not where nearly all belongs to one."""
        return len(large) > 1 or max(large.values(), default=0.0) < 0.9 * total

    def _saved(self, part: int) -> float:
        """Return the nanoseconds by which a lookup without a subtree is shorter."""
        kept = self._all.difference(self._managers[part : part + self.sizes[part]])
        without = self._managers[0].clone_manager(kept.__contains__)
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
        """Add a reading of the clock after the guards of each manager that takes one."""
        self._count = len(managers)
        self._come_to: list[int] = []
        """Number and time of each manager that a lookup has come to."""
        for number, manager in enumerate(managers):
            note = map(self._come_to.__iadd__, zip(itertools.repeat(number), iter(_now, None), strict=False))
            try:
                manager.add_lambda_guard(functools.partial(next, note), [], None)
            except RuntimeError:  # a dict's manager takes none: its own part counts for its first key or value
                continue

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
            before, numbers = numbers, self._come_to[::2]
            if numbers != before:  # another thread has changed a dict
                runs.clear()
            times = [begun, *self._come_to[1::2], ended]
            if repeat >= 2:  # the first lookups fill caches, torch's own too
                runs.append(list(map(operator.sub, times[1:], times)))
        *shortest, last = [float(min(each)) for each in zip(*runs, strict=True)]
        found = [0.0] * self._count
        for number, each in zip(numbers, shortest, strict=True):
            found[number] += each
        return [*found, last]


def lookup_time(root: Any, values: Any) -> float | None:
    """Return the nanoseconds of a lookup, measured on a copy; None where a guard fails.

    `root` is a `RootGuardManager`. Calls its `clone_manager` and `.check` (2.6).
    """
    copy = root.clone_manager(lambda manager: True)
    if not copy.check(values):
        return None
    call = shortest(type(copy)(), {}, 50)
    return max(shortest(copy, values, 5 + 2_000 // len(evaluated(copy))) - call, 1.0)


def shortest(root: Any, values: Any, repeats: int) -> float:
    """Return the nanoseconds of the shortest of repeated lookups, the call from Python included."""
    shortest = float("inf")
    for _ in range(repeats + 2):
        begun = _now()
        root.check(values)
        shortest = min(shortest, _now() - begun)
    return shortest
