"""Tell what filters of guards, and a stance, would leave of the guards of a cache entry, and what could change then."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable
from typing import Any

from dynascope.agent.documents.guard_trees import duration, outcome_of
from dynascope.agent.documents.reduced_guards import Reduced, Reductions, condition, reduce_guards
from dynascope.agent.internals.guards.filtered import Filter, filters_of_torch
from dynascope.agent.internals.guards.tree import CacheEntry
from dynascope.facts.recompiles.guarded_value import guarded_value, readable
from dynascope.facts.recompiles.wanted_value import wanted

_STANCE = "skip_guard_eval_unsafe"
_IN_FULL = {_STANCE: f"torch.compiler.set_stance({_STANCE}=True)"}
_NAMED = 3
"""The maximum number of values that are named for each filter."""
_COULD_CHANGE = "These could change then, and the compiled code would be used all the same:"
_LINE = re.compile(r"#\s([^#]*?):(\d+) in [^#]*$")
_TENSOR = re.compile(r"check_tensor\((?P<name>.+?), .*\)$")
_MARK = re.compile(r"hasattr\(.+, '_dynamo_\w+'\) == False$")
_OF_TORCH = {
    "GLOBAL_STATE": "grad mode, autocast and other global state of torch",
    "TORCH_FUNCTION_MODE_STACK": "the modes that override torch functions",
    "DEFAULT_DEVICE": "the default device",
}
_SAVED_TENSORS_HOOKS = "top_saved_tensors_hooks"
_IMPORTED = re.compile(r"\b__import_(\w+)")
_BUILTIN = re.compile(r"\b__builtins_dict___\d+\['(\w+)'\]")


class UnknownFilter(Exception):
    """Raised for a name of no filter, with a text for the user."""


def filters(code: types.CodeType, entry: CacheEntry, values: dict[str, Any], name: str) -> str:
    """Tell what each filter of torch, or that of this name, would leave of the guards.

    `values` are a frame's locals, and this is its thread. A name may also be that of a function of the program. Raises
    UnknownFilter.
    """
    heading = f"{code.co_name} [{entry.compile_id}]"
    wanted_filters = _by_name(entry, values, name)
    outcome = outcome_of(entry, values)
    if not outcome.startswith("all"):
        return f"{heading}: filters are tried where all guards are true. For the values in this frame {outcome}."
    found = reduce_guards(code, entry, values, wanted_filters)
    if name:
        return "\n".join([*_notes(found), *(_in_full(heading, found.everything, each) for each in found.filtered)])
    return _table(heading, entry, found)


def _by_name(entry: CacheEntry, values: dict[str, Any], name: str) -> dict[str, Filter | None]:
    known: dict[str, Filter | None] = {**filters_of_torch(), _STANCE: None}
    if not name:
        return known
    if name in known:
        return {name: known[name]}
    own = values.get(name, entry.guards.global_scope["G"].get(name))
    if not callable(own):
        raise UnknownFilter(f"{name} is no filter here. torch has: {', '.join(known)}.")
    return {name: own}


def _table(heading: str, entry: CacheEntry, found: Reductions) -> str:
    everything = found.everything
    rows = [_row(everything, everything, "no filter")]
    if found.own is not None:
        rows.append(_row(found.own, everything, "the filter that it was compiled with"))
    rows += [_row(each, everything, _IN_FULL.get(each.name, each.name)) for each in found.filtered]
    could_change = [f"  {each.name}: {_some(each)}" for each in found.filtered if each.gone]
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
            f"`guards filters {entry.compile_id} {found.filtered[0].name}` tells all of them for one.",
        ]
    )


def _row(reduced: Reduced, everything: Reduced, name: str) -> str:
    saved = (everything.lookup or 0.0) - (reduced.lookup or 0.0)
    told = duration(max(saved, 0.0)) if reduced.gone else ""
    return f"{reduced.number:>7} {duration(reduced.lookup):>9} {told:>9}  {name}"


def _notes(found: Reductions) -> list[str]:
    notes = [found.unknown] if found.unknown is not None else []
    if found.own is not None and found.own.gone:
        dropped = found.everything.number - found.own.number
        told = _some(found.own)
        notes.append(f"It was compiled with a filter, which dropped {dropped} guards. These can change: {told}")
    return notes


def _in_full(heading: str, everything: Reduced, reduced: Reduced) -> str:
    sentences = dict.fromkeys(_sentence(text) for text in _ordered(reduced.gone))
    return "\n".join(
        [
            f"{heading}: with {_IN_FULL.get(reduced.name, reduced.name)} {reduced.number} of {everything.number} guards"
            f" are left, and a lookup takes {duration(reduced.lookup)} instead of {duration(everything.lookup)}.",
            *([_COULD_CHANGE, *sentences] if sentences else ["No value could change then without a recompile."]),
            "",
            "These guards are left:",
            *map(str, reduced.left),
        ]
    )


def _some(reduced: Reduced) -> str:
    """Name the first values that could change."""
    named = list(dict.fromkeys(f"{_value(text)}{_place(text)}" for text in _ordered(reduced.gone)))
    more = len(named) - _NAMED
    return ", ".join(named[:_NAMED]) + (f", and {more} more" if more > 0 else "") + "."


def _ordered(gone: Iterable[str]) -> list[str]:
    """Return guards on values, then on torch's own state; none on marks of dynamic sizes."""
    return sorted((text for text in gone if not _MARK.search(condition(text))), key=lambda text: bool(_of_torch(text)))


def _of_torch(text: str) -> str | None:
    kind, _, code = condition(text).partition(": ")
    return "hooks on saved tensors" if _SAVED_TENSORS_HOOKS in code else _OF_TORCH.get(kind)


def _value(text: str) -> str:
    code = condition(text).partition(": ")[2]
    tensor = _TENSOR.match(code)
    return _of_torch(text) or _plain(readable(tensor["name"]) if tensor is not None else guarded_value(code).text)


def _sentence(text: str) -> str:
    """Return what a guard wants of which value, and the line that needs it."""
    code = condition(text).partition(": ")[2]
    subject, of_torch = guarded_value(code), _of_torch(text)
    clause = wanted(text if subject.kind in ("type", "identity") else code, subject)
    if of_torch is not None:
        return of_torch
    if _TENSOR.match(code) is not None:
        told = f"{_value(text)} must keep its type, dtype, device, requires_grad, sizes and strides"
    elif clause is not None:
        told = f"{readable(subject.expression) if subject.kind == 'identity' else subject.text} must {clause}"
    else:
        told = readable(code)
    place = _place(text)
    return _plain(f"{told}{place[:-1]} needs this)" if place else told)


def _plain(text: str) -> str:
    """Write modules and builtins, which Dynamo finds by names of its own, as in a program."""
    return _IMPORTED.sub(lambda found: found[1].replace("_dot_", "."), _BUILTIN.sub(r"\1", text))


def _place(text: str) -> str:
    """Return ` (model.py:20)` from the line that torch names; "" for none."""
    found = _LINE.search(text)
    return "" if found is None or _of_torch(text) else f" ({found[1].rpartition('/')[2]}:{found[2]})"
