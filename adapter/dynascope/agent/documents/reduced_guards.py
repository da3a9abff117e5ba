"""Find which guards of a cache entry a filter of guards, or a stance, would leave, and what a lookup would cost."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynascope.agent.documents.guard_sentences import condition
from dynascope.agent.events.guards import built_from
from dynascope.agent.internals.guards.costs import lookup_time
from dynascope.agent.internals.guards.tree import CacheEntry, GuardLine, lines, lines_below
from dynascope.agent.speculation.rebuilt_guards import Filter, Rebuilding

_NOT_KEPT = "What filters would drop is not known: this was compiled before Dynascope was attached."
_NOTHING_TO_EVALUATE = "With {} torch would find no compiled code here, and raise an error: no guard would be left."
_NOT_EXACT = "What filters would drop of it is not known: its guards cannot be built again as they are."


@dataclass(slots=True)
class Reduced:
    """The guards that are left, and those that are gone, as torch writes them."""

    name: str
    left: list[GuardLine]
    lookup: float | None
    gone: list[str]

    @property
    def number(self) -> int:
        """Return how many guards are left."""
        return sum(line.is_guard for line in self.left)


@dataclass(slots=True)
class Reductions:
    """The guards that each filter keeps; `own` is the filter that the function was compiled with."""

    everything: Reduced
    own: Reduced | None
    filtered: list[Reduced]
    unknown: str | None
    """Why filters cannot be tried, as a sentence for the user."""
    without_root: str | None = None
    """A sentence for the user, if the stance that evaluates fewer guards would find none in this entry."""


def reduce_guards(
    code: types.CodeType, entry: CacheEntry, values: dict[str, Any], filters: Mapping[str, Filter | None]
) -> Reductions:
    """Try filters by name on a cache entry; None stands for the stance.

    Reads `GuardManagerWrapper.diff_guard_root` (2.6), which the stance `skip_guard_eval_unsafe` has torch evaluate.
    """
    there = Reduced("", lines(entry.guards), lookup_time(entry.guards.root, values), [])
    source = built_from(entry.guards)
    rebuilding = None if source is None else Rebuilding(code, entry.guards, source, values)
    if rebuilding is None or not rebuilding.is_exact():
        found = Reductions(there, None, [], _NOT_KEPT if source is None else _NOT_EXACT)
        rebuilding = None
    elif source is not None and source.dropped:
        everything = _reduced("", rebuilding.with_filter(None), values)
        found = Reductions(everything, _compared(there, everything), [], None)
    else:
        found = Reductions(there, None, [], None)
    for name, keeps in filters.items():
        if keeps is None:
            root = entry.guards.diff_guard_root
            if root is None:  # none is on what can differ between calls
                found.without_root = _NOTHING_TO_EVALUATE.format(name)
                continue
            reduced = Reduced(name, lines_below(entry.guards, root), lookup_time(root, values), [])
        elif rebuilding is not None:
            reduced = _reduced(name, rebuilding.with_filter(keeps), values)
        else:
            continue
        found.filtered.append(_compared(reduced, found.everything))
    return found


def _reduced(name: str, guards: Any, values: dict[str, Any]) -> Reduced:
    return Reduced(name, lines(guards), lookup_time(guards.root, values), [])


def _compared(reduced: Reduced, everything: Reduced) -> Reduced:
    """Note the guards that are gone. One that several lines need may be left with another line."""
    left = Counter(condition(line.text) for line in reduced.left)
    for line in everything.left:
        found = condition(line.text)
        if left[found]:
            left[found] -= 1
        elif line.manager is None and ": " in line.text:
            reduced.gone.append(line.text)
    return reduced
