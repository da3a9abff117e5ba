"""Write the guards of a cache entry with what each costs, and why one does not fit."""

from __future__ import annotations

import types
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from dynascope.agent.internals.frames.resume import compile_name
from dynascope.agent.internals.guards.costs import Costs, check, measure
from dynascope.agent.internals.guards.tree import CacheEntry, GuardLine, cache_entries, counts, lines, lines_below
from dynascope.agent.internals.weak_keys import WeakKeys
from dynascope.facts.generated.model import EvaluatedGuard, GuardCosts, duration

_measured: WeakKeys[Any, Costs] = WeakKeys()
"""The costs of each entry's guards, when they were measured last."""
_MANY = 300
"""The number of guards above which what costs little is folded."""
_LITTLE = 100
"""Guards that cost less than this part of a lookup, 1/100, are folded."""

_GONE = "This cache entry no longer exists: its guards can never be true again, or torch._dynamo.reset() was called.\n"
_FOLDED = "What costs less than 1/{part} of it is folded: `guards {id} all` has all."
_UNMEASURED = "What they cost is measured on demand: stop in this function and type `guards {id}` in the debug console."


def document_text(code: types.CodeType, compile_id: str) -> str:
    """Return the guards of a cache entry, with their costs if measured. Any thread."""
    entry = next((entry for entry in cache_entries(code) if entry.compile_id == compile_id), None)
    if entry is None:
        return _GONE
    return f"{_text(code, entry, _measured.get(entry.guards), _UNMEASURED.format(id=compile_id))}\n"


def with_costs(code: types.CodeType, entry: CacheEntry, values: dict[str, Any], whole: bool = False) -> str:
    """Measure the guards for a frame's locals, on its thread; return them with their costs.

    Of many guards, what costs little is folded, unless the `whole` tree is wanted.
    """
    costs = measure(entry.guards, values)
    if costs is None:
        return _text(code, entry, None, f"No costs: for the values in this frame {outcome_of(entry, values)}.")
    _measured.put(entry.guards, costs)
    return _text(code, entry, costs, "") if whole else _folded_text(code, entry, costs)


def all_costs(code: types.CodeType, entry: CacheEntry, values: dict[str, Any]) -> tuple[GuardCosts, str]:
    """Measure the guards for these values; return each with its costs; and that as text.

    Without costs where a guard does not hold.
    """
    costs = measure(entry.guards, values)
    if costs is None:
        note = f"No costs: for the values of this call {outcome_of(entry, values)}."
        listed = [
            EvaluatedGuard(each.depth, each.text, each.is_guard, each.in_python, None, None)
            for each in lines(entry.guards)
        ]
        return GuardCosts(None, listed, [], [], ""), _text(code, entry, None, note)
    rows = _totals(lines(entry.guards), costs)
    evaluated = [EvaluatedGuard(each.depth, each.text, each.is_guard, py, own, total) for total, own, py, each in rows]
    return GuardCosts(costs.lookup, evaluated, [], [], ""), _text(code, entry, costs, "")


def checked(code: types.CodeType, entries: Sequence[CacheEntry], values: dict[str, Any]) -> str:
    """Evaluate the guards of each entry for a frame's locals; return which fails first."""
    return "\n".join(f"{compile_name(code, entry.compile_id)}: {outcome_of(entry, values)}" for entry in entries)


def outcome_of(entry: CacheEntry, values: dict[str, Any]) -> str:
    """Return as a clause that all guards are true for a frame's locals, or which fails."""
    outcome = check(entry.guards, values)
    if outcome.failed is None:
        return f"all {outcome.evaluated} guards are true"
    return f"this guard fails, after {max(outcome.evaluated - 1, 0)} that are true: {outcome.failed}"


def _text(code: types.CodeType, entry: CacheEntry, costs: Costs | None, note: str) -> str:
    listed = lines(entry.guards)
    heading = _heading(
        code, entry, sum(line.is_guard for line in listed), sum(line.in_python for line in listed), costs
    )
    if costs is None:
        return "\n".join([heading, note, "", *(f"{'py' if line.in_python else '  '}  {line}" for line in listed)])
    return "\n".join([heading, *_rows(listed, costs)])


def _folded_text(code: types.CodeType, entry: CacheEntry, costs: Costs) -> str:
    numbers = list(counts(costs.own))
    epilogue = len(entry.guards.root.get_epilogue_lambda_guards())
    guards = [0, *accumulate(number for number, _ in numbers)]
    in_python = [0, *accumulate(number for _, number in numbers)]
    subtrees = costs.subtrees

    if guards[-1] + epilogue <= _MANY:
        return _text(code, entry, costs, "")
    listed = lines_below(entry.guards, entry.guards.root, lambda each: subtrees[each][0] * _LITTLE >= costs.lookup)
    for line in listed:
        if line.folded:
            parts = [subtrees[each] for each in line.folded]
            number, slow = (sum(each[end] - each[first] for _, first, end in parts) for each in (guards, in_python))
            line.text = f"… {_plural(number, 'guard')} on {_plural(len(parts), 'value')} and below"
            line.in_python = slow > 0
    heading = _heading(code, entry, guards[-1] + epilogue, in_python[-1] + epilogue, costs)
    note = _FOLDED.format(part=_LITTLE, id=entry.compile_id)
    return "\n".join([heading, note, *_rows(listed, costs)])


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _heading(code: types.CodeType, entry: CacheEntry, guards: int, in_python: int, costs: Costs | None) -> str:
    compile = compile_name(code, entry.compile_id)
    title = f"{compile} guards: {guards}, as torch evaluates them; {in_python} in Python (py)"
    if costs is None:
        return title
    time = duration(costs.lookup)
    return f"{title}\nA lookup takes {time}: repeated, on a copy of the guards, with the values in this frame."


def _rows(listed: list[GuardLine], costs: Costs) -> list[str]:
    rows = [
        f"{duration(total):>9} {duration(own):>9} {'py' if py else '  '}  {line}"
        for total, own, py, line in _totals(listed, costs)
    ]
    return ["", f"{'with all':>9} {'itself':>9}", f"{'below':>9}", *rows]


def _totals(listed: list[GuardLine], costs: Costs) -> list[tuple[float | None, float | None, bool, GuardLine]]:
    """Return each line with the cost of its subtree and its own, where it has one."""
    rows: list[tuple[float | None, float | None, bool, GuardLine]] = []
    below: dict[int, float] = {}
    subtrees = costs.subtrees if any(line.folded for line in listed) else {}
    after_tree = next((line for line in listed if line.is_guard and line.depth == 0), listed[0])
    for line in reversed(listed):
        own = None if line.manager is None else costs.own.get(line.manager, 0.0)
        if line.folded:
            own = sum(subtrees[each][0] for each in line.folded)
        if line is after_tree:
            own = (own or 0.0) + costs.last
        deeper = sum(below.pop(depth) for depth in [depth for depth in below if depth > line.depth])
        total = (own or 0.0) + deeper
        below[line.depth] = below.get(line.depth, 0.0) + total
        has_total = line.manager is not None or line.folded or line.text.startswith("KeyValueManager")
        rows.append((total if has_total else None, None if line.folded else own, line.in_python, line))
    rows.reverse()
    root, *others = rows
    return [(costs.lookup, *root[1:]), *others]
