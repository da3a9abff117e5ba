"""Advice against recompiles, by the kind of value that changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from dynascope.explain.sizes import STAYS, size_advice
from dynascope.facts.recompiles.causes import NOTHING, Cause, Keyed, Known
from dynascope.facts.recompiles.guarded_value import (
    GuardedValue,
    Kind,
    guarded_value,
    is_bound,
    is_buffer,
    is_first_state,
    readable,
)
from dynascope.facts.recompiles.recompile_reason import NO_GUARD, RANGE_OF_MARK, is_bound_of_two

_BY_KIND: dict[Kind, str] = {
    "stride": "Give it the same memory layout in each call: `.contiguous()` before the call.",
    "dtype": "Convert it to one dtype before the call; else there is a compile for each.",
    "rank": "Give it the same number of dimensions in each call; else there is a compile for each.",
    "requires_grad": "Call it with the same `requires_grad` each time: `.detach()` tensors that need no gradient.",
    "device": "Call it with tensors of one device; else there is a compile for each.",
    "sizes": "Sizes that were equal in one call were not in another: a compile fits one of the two.",
    "length": "Each length is compiled on its own: keep it the same, or stack the elements into one tensor.",
    "type": "Give it objects of one type; else there is a compile for each.",
    "dispatch key set": (
        "Make it the same way in each call: a tensor of `torch.inference_mode()`, in `torch.vmap`, or a conjugate view "
        "has other keys."
    ),
    "identity": "Each object is compiled on its own, such as a new lambda, or a member of an enumeration: pass few.",
    "keys": "Keep the keys and their order the same in each call.",
    "elements": (
        "Whether a set has an element is asked in the compiled function, and compiled for each answer: pass few "
        "different sets, or ask outside of the compiled function."
    ),
    "attribute": "Set all attributes before the first call: each later one is compiled again.",
    "global state": (
        "Call it in the same state each time: gradients on or off, autocast, default dtype, threads, modes such as "
        "that of `with torch.device(…):`."
    ),
}
_KEYED: dict[Keyed, str] = {
    "dict": _BY_KIND["keys"],
    "keywords": (
        "Each set of keywords is compiled on its own: pass the same ones in the same order in each call, with their "
        "defaults where there is nothing to pass."
    ),
}
_MEMBERSHIP = (
    "Whether a dict has a key is asked in the compiled function, and compiled for each answer: fill the dict before "
    "the first call, or ask outside of the compiled function."
)
_BUFFER = (
    "Dynamo gives buffers fixed sizes: pass the tensor as an argument; or compile with `dynamic=True`, and with "
    "`torch._dynamo.config.force_parameter_static_shapes = False` (in modules of torch's own classes also "
    "`torch._dynamo.config.force_nn_module_property_static_shapes = False`)."
)
_FIRST_STEP = (
    "An optimizer fills its state in its first step, so that what is compiled for that step fits no other: call "
    "`step()` once before the first compiled call, when the parameters have gradients."
)
_SLOT = (
    "`{}` is what the line of the graph break had computed when its graph ended, or what the call that broke returned: "
    "mend the break, and nothing is compiled for it."
)
_GONE = (
    "A compile ends with the object that it was made for: pass one that lives on, not a new one for each call, such as "
    "a bound method (`history.append`)."
)
MADE_SINCE = "another thread has compiled that while this call waited, or what its guards check has changed since"
_AT_ONCE = (
    f"Torch looks up compiled code before it waits for its lock: {MADE_SINCE}. Where threads call it at once, call it "
    "once before they start."
)
_VARIANTS = "Each value is compiled on its own: pass few of them, or decide outside of the compiled function."
_NONE = "There is one compile for None, and one for other values: pass a default instead of None to have only one."
_NUMBERS = {
    None: (
        "Dynamo makes a number dynamic when it has seen a second value, but not 0 and 1, nor where Python needs the "
        "value (a loop, a condition): keep it the same there, or in a tensor."
    ),
    True: (
        "With `dynamic=True` Dynamo makes numbers dynamic, but not 0 and 1, nor where Python needs the value (a loop, "
        "a condition): keep it the same there, or in a tensor."
    ),
    False: (
        f"Dynamo makes no number dynamic while {STAYS}. With `dynamic=True` it does, but not 0 and 1, nor where Python "
        "needs the value (a loop, a condition): keep it the same there, or in a tensor."
    ),
}
"""By the value of `torch.compile(dynamic=…)` with the effect of the settings."""
_BOUNDS = "The {what} is dynamic already: a condition on it is compiled once for each outcome."
_ALIASES = (
    "Dynamo compiled it for calls that pass one object as all of these: pass it so in each call; else it is compiled "
    "again for different objects. Their values do not matter."
)
_DUPLICATES = (
    "Dynamo compiled it for different tensors: do not pass one of them twice (pass a `.clone()`); else it is compiled "
    "again for that. Their values do not matter."
)


def remedies_of(cause: Cause) -> list[str]:
    """Return what helps against a cause: Dynamo's hints, then Dynascope's."""
    own = [each.hint for each in cause.entries if each.hint]
    return remedies([each.guard for each in cause.entries], own, cause.known)


def remedies(guards: Sequence[str], hints: Sequence[str], known: Known = NOTHING) -> list[str]:
    """Return advice on guards that failed for one value: Dynamo's hints, and Dynascope's."""
    slots = [_SLOT.format(slot) for guard in guards for slot in re.findall(r"___stack\d+", guard)]
    if RANGE_OF_MARK in hints or (hints and all(map(is_bound_of_two, guards))):
        return list(dict.fromkeys([*slots, *hints]))
    return list(dict.fromkeys([*slots, *hints, *_remedy(guards, bool(hints), known)]))


def _remedy(guards: Sequence[str], is_hinted: bool, known: Known) -> list[str]:
    subject = guarded_value(guards[0])
    if subject.kind == "other" and guards[0].endswith("got deallocated"):
        return [_GONE]
    if subject.kind == "size":
        return _against_size(subject, guards, known)
    if subject.kind == "aliases":
        parted = {guard.startswith("Duplicate") for guard in guards}
        return [text for is_one, text in ((False, _ALIASES), (True, _DUPLICATES)) if is_one in parted]
    if subject.kind == "value":
        if is_hinted:
            return []
        if is_bound(guards[0]):
            return [_BOUNDS.format(what="number")]
        if all(guard.endswith(" None") for guard in guards):
            return [_NONE]
        return [_NUMBERS[known.dynamic] if _is_number(guards[0]) else _VARIANTS]
    if subject.kind == "attribute" and "hasattr(" not in guards[0] and not subject.expression.endswith("__dict__"):
        return [_MEMBERSHIP]
    if is_first_state(subject, guards[0]):
        return [_FIRST_STEP]
    return _by_kind(subject, guards[0], known)


def _by_kind(subject: GuardedValue, guard: str, known: Known) -> list[str]:
    if guard == NO_GUARD:
        return [_AT_ONCE]
    if subject.kind in ("length", "keys") and known.keyed is not None:
        return [_KEYED[known.keyed]]
    devices = set(re.findall(r"DispatchKeySet\((\w+)", guard))
    text = _BY_KIND.get("device" if len(devices) > 1 else subject.kind)
    return [text] if text is not None else []


def _against_size(subject: GuardedValue, guards: Sequence[str], known: Known) -> list[str]:
    if any("mismatch" not in guard for guard in guards):
        return [_BOUNDS.format(what="size")]
    if "._parameters[" in subject.expression:
        return []
    if is_buffer(subject):
        return [_BUFFER]
    return [size_advice(readable(subject.expression), subject.dimension or 0, guards, known)]


def _is_number(guard: str) -> bool:
    """Whether a guard compares with an int or a float."""
    try:
        expected = ast.literal_eval(guard.rpartition(" == ")[2])
    except (SyntaxError, ValueError):
        return False
    return type(expected) in (int, float)
