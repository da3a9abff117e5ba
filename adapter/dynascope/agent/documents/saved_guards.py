"""Tell which guards of a cache entry torch could save with the compiled code, and collect what is recorded of them."""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dynascope.agent.documents.guard_filters import filters_of
from dynascope.agent.documents.guard_trees import all_costs, outcome_of
from dynascope.agent.internals.frames.resume import compile_name
from dynascope.agent.internals.guards.guards import GuardFact, guard_fact
from dynascope.agent.internals.guards.tree import CacheEntry
from dynascope.agent.speculation.rebuilt_guards import NotRebuilt, Rebuilding
from dynascope.agent.speculation.saved_guards import Saved, Saving, Trouble
from dynascope.console import BadCommand
from dynascope.explain.guards import condition, plain, sentences, some_values
from dynascope.facts.generated.model import GuardCosts, RefusedGuards, SavedGuards
from dynascope.facts.recompiles.guarded_value import readable

_WAYS = {"aot_compile": Saving.by_aot_compile, "caching_precompile": Saving.by_caching_precompile}
_NAMED = 3
"""The maximum number of guards that are named for each reason."""
_UNKNOWN = "{heading}: which of its guards can be saved is not known: {why}."
_OF_MODULES = ("MODULE_MATCH", "BUILTIN_MATCH")
_REASONS = (
    (
        re.compile(r"Type <class '(?P<name>[^']+)'>.* cannot be saved"),
        "The class {name} is defined in a function.",
        "Define it at the top level of a module.",
    ),
    (
        re.compile(r"attribute lookup (?P<name>\S+) on (?P<module>\S+) failed"),
        "There is no {module}.{name} under which it could be found again.",
        "Define it at the top level of its module, under its own name.",
    ),
    (
        re.compile(r"(?P<name>\w+) guard cannot be serialized"),
        "torch saves no {name}: it pins one object, which another process does not have.",
        "Drop it if that object stays the same, or pass the function what it needs of it.",
    ),
    (
        re.compile(r"assigned grad expected"),
        "The tensor has a gradient, which torch does not save with it.",
        "Compile it before the first backward, or set the gradients to None: `model.zero_grad()`.",
    ),
    (
        re.compile(r"_Missing\b|reads an? (?P<name>\w+), which cannot be serialized"),
        "torch does not save a value of this kind: it is missing when the guards are loaded again.",
        "Read it before the call, and pass the function what it needs of it.",
    ),
    (
        re.compile(r"dispatch key set mismatch"),
        "torch makes this guard from the state where it is loaded, and this frame runs in autocast or inference mode.",
        "Load the code in the same mode, or enter the mode in the compiled function.",
    ),
)
"""Patterns of torch's messages, each with the reason and the hint that users read."""
_HINT = "Pass the function only what it reads of this value, or give the value's class a `__reduce__`."


def saved_guards(code: types.CodeType, entry: CacheEntry, values: dict[str, Any], name: str) -> str:
    """Tell what torch would save of the guards in each way, or all of it in that of this name.

    `values` are a frame's locals, and this is its thread. Raises BadCommand.
    """
    if name and name not in _WAYS:
        raise BadCommand(f"{name} is no way to save guards. There are: {', '.join(_WAYS)}.")
    heading = compile_name(code, entry.compile_id)
    outcome = outcome_of(entry, values)
    if not outcome.startswith("all"):
        return f"{heading}: saving is tried where all guards are true. For the values in this frame {outcome}."
    try:
        saved = _by_way(code, entry, values, [name] if name else list(_WAYS))
    except NotRebuilt as why:
        return _UNKNOWN.format(heading=heading, why=why)
    told = _all_told(heading, saved, in_full=bool(name))
    return told if name else f"{told}\n\n`guards saved {entry.compile_id} aot_compile` tells all of them for one."


def saved_by_way(code: types.CodeType, entry: CacheEntry, values: dict[str, Any]) -> tuple[list[SavedGuards], str]:
    """Return what torch would save in each way, and that as text.

    All guards must hold for these values.
    """
    heading = compile_name(code, entry.compile_id)
    try:
        saved = _by_way(code, entry, values, list(_WAYS))
    except NotRebuilt as why:
        return [], _UNKNOWN.format(heading=heading, why=why)
    return [_as_fact(way, each) for way, each in saved.items()], _all_told(heading, saved, in_full=False)


def _by_way(code: types.CodeType, entry: CacheEntry, values: dict[str, Any], ways: list[str]) -> dict[str, Saved]:
    saving = Saving(Rebuilding(code, entry.guards, values))
    return {way: _WAYS[way](saving) for way in ways}


def _all_told(heading: str, saved: dict[str, Saved], in_full: bool) -> str:
    ways: dict[str, list[str]] = {}
    for way, each in saved.items():
        ways.setdefault("\n".join(_told(each, in_full)), []).append(way)
    return "\n".join(
        [
            f"{heading}: what torch would save of its guards with the compiled code, for another process.",
            *(f"\n{' and '.join(names)}: {told}" for told, names in ways.items()),
        ]
    )


def _as_fact(way: str, saved: Saved) -> SavedGuards:
    refused = [
        RefusedGuards([_name(guard) for guard in guards], reason, hint)
        for (reason, hint), guards in _by_reason(saved.refused).items()
    ]
    rest = None if saved.rest is None else _outcome(saved.rest, f"the other {len(saved.rest.kept)}")
    outcome = _outcome(saved, f"{len(saved.kept)} of {_guards(len(saved.kept) + len(saved.dropped))}")
    return SavedGuards(way, outcome, refused, rest, sentences(_texts(saved.dropped)))


def _told(saved: Saved, in_full: bool) -> list[str]:
    number = len(saved.kept) + len(saved.dropped)
    told = [_outcome(saved, f"{len(saved.kept)} of {_guards(number)}")]
    for (reason, hint), guards in _by_reason(saved.refused).items():
        told += [f"  {_named(guards, in_full)}", f"    {reason}", f"    hint: {hint}"]
    if saved.rest is not None:
        rest = _outcome(saved.rest, f"the other {len(saved.rest.kept)}")
        told.append(f"  tried: with a `guard_filter_fn` that drops {_guards(len(saved.refused))} more, {rest}")
    dropped = _texts(saved.dropped)
    change = f"dropped: {_guards(len(saved.dropped))}. These can then change without being noticed:"
    if in_full:
        kept = [] if saved.trouble is not None else ["", "These guards are saved:", *sentences(_texts(saved.kept))]
        return told + (["", change, *sentences(dropped)] if dropped else []) + kept
    return told + ([f"  {change} {some_values(dropped)}"] if dropped else [])


def _outcome(saved: Saved, which: str) -> str:
    trouble = saved.trouble
    stored = f"torch saves {which} ({saved.size:,} bytes)"
    if trouble is None:
        return f"{stored}. Loaded again, they are true for the same values."
    because = f" because of {_guards(len(saved.refused))}:" if saved.refused else f". {_reason(trouble)[0]}"
    if trouble.at == "save":
        return f"torch refuses to save them{because}"
    return (
        f"{stored}, but {'cannot load them again' if trouble.at == 'load' else 'loaded again they are false'}{because}"
    )


def _by_reason(refused: list[tuple[Any, Trouble]]) -> dict[tuple[str, str], list[Any]]:
    found: dict[tuple[str, str], list[Any]] = {}
    for guard, trouble in refused:
        found.setdefault(_reason(trouble), []).append(guard)
    return found


def _reason(trouble: Trouble) -> tuple[str, str]:
    for pattern, reason, hint in _REASONS:
        found = pattern.search(trouble.reason)
        if found is not None:
            return reason.format(**found.groupdict()), hint
    if trouble.at == "use":
        return f"Loaded again, this is false for the same values: {condition(trouble.reason)}", _HINT
    return f"{'It cannot be loaded: ' if trouble.at == 'load' else ''}{trouble.reason}", _HINT


def _named(guards: list[Any], in_full: bool) -> str:
    shown = guards if in_full else guards[:_NAMED]
    more = len(guards) - len(shown)
    return ", ".join(map(_name, shown)) + (f", and {more} more" if more else "")


def _name(guard: Any) -> str:
    """Return what a guard is on, and the line that made it: `TYPE_MATCH of x (model.py:12)`."""
    fact = guard_fact(guard)
    place = f" ({Path(fact.file).name}:{fact.line})" if fact.file else ""
    return f"{fact.kind} of {plain(readable(fact.source))}{place}"


def _guards(number: int) -> str:
    return f"{number} guard{'' if number == 1 else 's'}"


def _texts(guards: list[Any]) -> list[str]:
    """Write guards as torch does in a tree, those on what is imported last."""
    texts = []
    for fact in sorted(map(guard_fact, guards), key=_is_on_what_is_imported):
        codes = fact.code
        if fact.kind == "TENSOR_MATCH":
            codes = [f"check_tensor({fact.source}, )"]
        elif fact.kind == "CLOSURE_MATCH":  # it is built as one of the code
            codes = [f"___check_obj_id({fact.source}, 0), type=<class 'function'>"]
        place = f"  # {fact.file}:{fact.line} in {fact.kind}" if fact.file else ""
        texts += [f"{fact.kind}: {code}{place}" for code in codes]
    return texts


def _is_on_what_is_imported(fact: GuardFact) -> bool:
    return fact.kind in _OF_MODULES or "__import_torch_dot_" in fact.source


def guard_costs(code: types.CodeType, entry: CacheEntry, values: dict[str, Any]) -> GuardCosts:
    """Measure the guards for a frame's locals, on its thread; try filters, and to save them."""
    found, costs = all_costs(code, entry, values)
    if found.lookup is None:
        return replace(found, text=costs)
    left, filters = filters_of(code, entry, values)
    saved, told = saved_by_way(code, entry, values)
    return replace(found, filters=left, saved=saved, text="\n\n\n".join([costs, filters, told]) + "\n")
