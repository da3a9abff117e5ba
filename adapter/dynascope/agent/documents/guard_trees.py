"""Write the guards of a cache entry with what each costs, and why one does not fit."""

from __future__ import annotations

import types
import weakref
from collections.abc import Sequence
from typing import Any

from dynascope.agent.internals.guards.check import check
from dynascope.agent.internals.guards.costs import Costs, measure
from dynascope.agent.internals.guards.tree import CacheEntry, GuardLine, cache_entries, lines

_measured: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
"""The text of each entry's costs, when they were measured last."""

_GONE = "This cache entry no longer exists: its guards can never be true again, or torch._dynamo.reset() was called.\n"
_UNMEASURED = "What they cost is measured on demand: stop in this function and type `guards {id}` in the debug console."


def document_text(code: types.CodeType, compile_id: str) -> str:
    """Return the guards of a cache entry, with their costs if measured. Any thread."""
    entry = next((entry for entry in cache_entries(code) if entry.compile_id == compile_id), None)
    if entry is None:
        return _GONE
    known = _measured.get(entry.guards)
    return f"{known or _text(code, entry, None, _UNMEASURED.format(id=compile_id))}\n"


def with_costs(code: types.CodeType, entry: CacheEntry, values: dict[str, Any]) -> str:
    """Measure the guards for a frame's locals, on its thread; return them with their costs."""
    costs = measure(entry.guards, values)
    if costs is None:
        return _text(code, entry, None, f"No costs: for the values in this frame {outcome_of(entry, values)}.")
    note = f"A lookup takes {duration(costs.lookup)}: repeated, on a copy of the guards, with the values in this frame."
    text = _measured[entry.guards] = _text(code, entry, costs, note)
    return text


def checked(code: types.CodeType, entries: Sequence[CacheEntry], values: dict[str, Any]) -> str:
    """Evaluate the guards of each entry for a frame's locals; return which fails first."""
    return "\n".join(f"{code.co_name} [{entry.compile_id}]: {outcome_of(entry, values)}" for entry in entries)


def outcome_of(entry: CacheEntry, values: dict[str, Any]) -> str:
    """Return as a clause that all guards are true for a frame's locals, or which fails."""
    outcome = check(entry.guards, values)
    if outcome.failed is None:
        return f"all {outcome.evaluated} guards are true"
    return f"this guard fails, after {max(outcome.evaluated - 1, 0)} that are true: {outcome.failed}"


def _text(code: types.CodeType, entry: CacheEntry, costs: Costs | None, note: str) -> str:
    listed = lines(entry.guards)
    number = sum(line.is_guard for line in listed)
    in_python = sum(line.in_python for line in listed)
    heading = [
        f"{code.co_name} [{entry.compile_id}] guards: {number}, as torch evaluates them; {in_python} in Python (py)",
        note,
    ]
    if costs is None:
        return "\n".join([*heading, "", *(f"{'py' if line.in_python else '  '}  {line}" for line in listed)])
    totals = _totals(listed, costs)
    rows = [
        f"{duration(total):>9} {duration(own):>9} {'py' if py else '  '}  {line}" for total, own, py, line in totals
    ]
    return "\n".join([*heading, "", f"{'with all':>9} {'itself':>9}", f"{'below':>9}", *rows])


def _totals(listed: list[GuardLine], costs: Costs) -> list[tuple[float | None, float | None, bool, GuardLine]]:
    """Return each line with the cost of its subtree and its own, where it has one."""
    rows: list[tuple[float | None, float | None, bool, GuardLine]] = []
    below: dict[int, float] = {}
    after_tree = next((line for line in listed if line.is_guard and line.depth == 0), listed[0])
    for line in reversed(listed):
        own = None if line.manager is None else costs.own.get(line.manager, 0.0)
        if line is after_tree:
            own = (own or 0.0) + costs.last
        deeper = sum(below.pop(depth) for depth in [depth for depth in below if depth > line.depth])
        total = (own or 0.0) + deeper
        below[line.depth] = below.get(line.depth, 0.0) + total
        has_total = line.manager is not None or line.text.startswith("KeyValueManager")
        rows.append((total if has_total else None, own, line.in_python, line))
    rows.reverse()
    root, *others = rows
    return [(costs.lookup, *root[1:]), *others]


def duration(time: float | None) -> str:
    """Return a time as text: `338 ns`, `1.5 µs`."""
    if time is None:
        return ""
    return f"{time:.0f} ns" if time < 1_000 else f"{time / 1_000:.1f} µs"
