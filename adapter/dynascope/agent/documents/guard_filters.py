"""Tell what filters of guards, and a stance, would leave of the guards of a cache entry, and what could change then."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynascope.agent.documents.guard_trees import outcome_of
from dynascope.agent.internals.frames.resume import compile_name
from dynascope.agent.internals.guards.costs import lookup_time
from dynascope.agent.internals.guards.tree import CacheEntry, GuardLine, lines, lines_below
from dynascope.agent.speculation.rebuilt_guards import Filter, NotRebuilt, Rebuilding, filters_of_torch
from dynascope.console import BadCommand
from dynascope.explain.guards import condition, sentences, some_values
from dynascope.facts.generated.model import FilteredGuards, duration

_NOTHING_TO_EVALUATE = "With {} torch would find no compiled code here, and raise an error: no guard would be left."

_STANCE = "skip_guard_eval_unsafe"
_IN_FULL = {_STANCE: f"torch.compiler.set_stance({_STANCE}=True)"}
_COULD_CHANGE = "These could change then, and the compiled code would be used all the same:"


@dataclass(slots=True)
class Reduced:
    """The guards that a filter keeps, and the guards that it drops, as torch writes them."""

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
    there = _reduced("", entry.guards, values)
    found, rebuilding = Reductions(there, None, [], None), None
    try:
        rebuilding = Rebuilding(code, entry.guards, values)
        if rebuilding.source.dropped:
            everything = _reduced("", rebuilding.with_filter(None), values)
            found = Reductions(everything, _compared(there, everything), [], None)
    except NotRebuilt as why:
        found.unknown = f"What filters would drop is not known: {why}."
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


def filters(code: types.CodeType, entry: CacheEntry, values: dict[str, Any], name: str) -> str:
    """Tell what each filter of torch, or that of this name, would leave of the guards.

    `values` are a frame's locals, and this is its thread. A name may also be that of a function of the program. Raises
    BadCommand.
    """
    heading = compile_name(code, entry.compile_id)
    wanted_filters = _by_name(entry, values, name)
    outcome = outcome_of(entry, values)
    if not outcome.startswith("all"):
        return f"{heading}: filters are tried where all guards are true. For the values in this frame {outcome}."
    found = reduce_guards(code, entry, values, wanted_filters)
    if name:
        return "\n".join([*_notes(found), *(_in_full(heading, found.everything, each) for each in found.filtered)])
    return _table(heading, entry, found)


def filters_of(code: types.CodeType, entry: CacheEntry, values: dict[str, Any]) -> tuple[list[FilteredGuards], str]:
    """Return what each filter of torch would leave, and that as text.

    All guards must hold for these values.
    """
    found = reduce_guards(code, entry, values, _by_name(entry, values, ""))
    left = [FilteredGuards(each.name, each.number, each.lookup, sentences(each.gone)) for each in found.filtered]
    return left, _table(compile_name(code, entry.compile_id), entry, found)


def _by_name(entry: CacheEntry, values: dict[str, Any], name: str) -> dict[str, Filter | None]:
    known: dict[str, Filter | None] = {**filters_of_torch(), _STANCE: None}
    if not name:
        return known
    if name in known:
        return {name: known[name]}
    own = values.get(name, entry.guards.global_scope["G"].get(name))
    if not callable(own):
        raise BadCommand(f"{name} is no filter here. torch has: {', '.join(known)}.")
    return {name: own}


def _table(heading: str, entry: CacheEntry, found: Reductions) -> str:
    everything = found.everything
    rows = [_row(everything, everything, "no filter")]
    if found.own is not None:
        rows.append(_row(found.own, everything, "the filter that it was compiled with"))
    rows += [_row(each, everything, _IN_FULL.get(each.name, each.name)) for each in found.filtered]
    could_change = [f"  {each.name}: {some_values(each.gone)}" for each in found.filtered if each.gone]
    return "\n".join(
        [
            f"{heading}: what is left of its guards with a `guard_filter_fn` in the `options` of torch.compile,",
            "or with a stance. Lookups are repeated, on copies of the guards, with the values in this frame.",
            *_notes(found),
            "",
            f"{'guards':>7} {'a lookup':>9} {'saved':>9}",
            *rows,
            "",
            _COULD_CHANGE,
            *could_change,
            *(
                f"`guards filters {entry.compile_id} {each.name}` tells all of them for one."
                for each in found.filtered[:1]
            ),
        ]
    )


def _row(reduced: Reduced, everything: Reduced, name: str) -> str:
    saved = (everything.lookup or 0.0) - (reduced.lookup or 0.0)
    told = duration(max(saved, 0.0)) if reduced.gone else ""
    return f"{reduced.number:>7} {duration(reduced.lookup):>9} {told:>9}  {name}"


def _notes(found: Reductions) -> list[str]:
    notes = [note for note in (found.unknown, found.without_root) if note is not None]
    if found.own is not None and found.own.gone:
        dropped = found.everything.number - found.own.number
        told = some_values(found.own.gone)
        notes.append(f"It was compiled with a filter, which dropped {dropped} guards. These can change: {told}")
    return notes


def _in_full(heading: str, everything: Reduced, reduced: Reduced) -> str:
    told = sentences(reduced.gone)
    return "\n".join(
        [
            f"{heading}: with {_IN_FULL.get(reduced.name, reduced.name)} {reduced.number} of {everything.number} guards"
            f" are left, and a lookup takes {duration(reduced.lookup)} instead of {duration(everything.lookup)}.",
            *([_COULD_CHANGE, *told] if told else ["No value could change then without a recompile."]),
            "",
            "These guards are left:",
            *map(str, reduced.left),
        ]
    )
