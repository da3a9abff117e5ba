"""Advise against recompiles, by the kind of value that changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import PurePath

from dynascope.explain.problem import listed
from dynascope.explain.size_remedies import BY_ITSELF, STAYS, size_advice
from dynascope.facts.recompiles.causes import Cause
from dynascope.facts.recompiles.guarded_value import (
    GuardedValue,
    Kind,
    guarded_value,
    is_bound,
    is_buffer,
    is_first_state,
    is_tensor_or_none,
    readable,
    sizes_seen,
    wanted,
)
from dynascope.facts.recompiles.known import NOTHING, Keyed, Known
from dynascope.facts.recompiles.recompile_reason import NO_GUARD, RANGE_OF_MARK, is_bound_of_two
from dynascope.facts.recompiles.spared import Spared

_BY_KIND: dict[Kind, str] = {
    "stride": "Give it the same memory layout in each call: `.contiguous()` before the call.",
    "dtype": "Convert it to one dtype before the call; else there is a compile for each.",
    "rank": "Give it the same number of dimensions in each call; else there is a compile for each.",
    "requires_grad": "Call it with the same `requires_grad` each time; `.detach()` only what needs no gradient.",
    "device": "Call it with tensors of one device; else there is a compile for each.",
    "sizes": (
        "Sizes that were equal in one call were not in another: a compile fits one of the two. Where the code does not "
        "need them equal, `torch.fx.experimental._config.use_duck_shape = False` makes one compile fit both."
    ),
    "length": (
        "Each length is compiled on its own: keep it the same, append and loop outside of the compiled function, or "
        "stack the elements into one tensor and compute without a loop."
    ),
    "type": "Give it objects of one type; else there is a compile for each.",
    "dispatch key set": (
        "Make it the same way in each call: a tensor of `torch.inference_mode()`, in `torch.vmap`, or a conjugate view "
        "has other keys."
    ),
    "identity": "Each object is compiled on its own, such as a function, or a member of an enumeration: pass few.",
    "keys": "Keep the keys and their order the same in each call, with a default where there is nothing to pass.",
    "elements": (
        "Whether a set has an element is asked in the compiled function, and compiled for each answer: pass few "
        "different sets, or ask outside of the compiled function."
    ),
    "attribute": "Set all attributes before the first call: each later one is compiled again.",
    "marks": "Mark the sizes of this tensor in each call, or in none: a tensor with marks has compiles of its own.",
    "metadata": (
        "Each metadata, the second result of `__tensor_flatten__`, is compiled on its own: keep in it only what the "
        "compiled code needs, and what changes in a tensor; or define `__metadata_guard__` in the class."
    ),
    "backend": (
        "Each backend, and each set of `torch.compile(options=…)`, has compiles of its own: compile the function once, "
        "with one backend and the same options."
    ),
    "global state": (
        "Call it in the same state each time: gradients on or off, autocast, default dtype, threads, modes such as "
        "that of `with torch.device(…):`."
    ),
}
_TYPE_OF_NUMBER = (
    "Pass a number of one type in each call, as `float({name})` makes an integer a float; else there is a compile for "
    "each."
)
_DTYPES = "Convert it, and {}, to one dtype before the call: they have changed with it."
ONLY_TOGETHER = "It helps only together with the remedy for {}, which the call itself changes."
TOGETHER = "It helps only together with the remedy for {}, which changed in the same calls."
GROWS = (
    "The call itself changes its length: return the value, and append it outside of the compiled function, or write "
    "into a tensor of a fixed size."
)
"""The remedy for a list or dict to which the compiled function adds."""
_OF_PARAMETER = (
    "There is a compile for each set of parameters that need gradients: freeze and unfreeze many at once, and seldom."
)
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
        "Dynamo makes a number dynamic once it has seen a second value, unless Python needs the value (a loop, a "
        "condition): then keep it the same, or pass a tensor where operators take one."
    ),
    True: (
        "With `dynamic=True` Dynamo makes numbers dynamic, but not where Python needs the value (a loop, a condition): "
        "keep it the same there."
    ),
    False: (
        f"Dynamo makes no number dynamic while {STAYS}. With `dynamic=True` it does, but not where Python needs the "
        "value (a loop, a condition): keep it the same there."
    ),
}
"""By the value of `torch.compile(dynamic=…)` with the effect of the settings."""
_NEEDED = (
    "Python needs this number in line {line} of {file}, so that each value is compiled on its own: pass few values, "
    "or, where that line can, compute with a tensor."
)
_NEEDED_BY_BACKEND = (
    "The backend, {backend}, needs this number when it compiles the graph, so that each value is compiled on its own: "
    "pass few values, or a tensor where the operator takes one."
)
USUAL = (
    "A compile for training and one for evaluation are usual: there is nothing to mend, unless it changes by mistake."
)
"""The remedy for what differs between training and evaluation, where it has changed once."""
_LEARNING_RATE = re.compile(r"\.param_groups\[\d+\]\['lr'\]$")
_TENSOR_FOR_IT = "Make the learning rate a tensor, `lr=torch.tensor(0.01)`: its values need no compile of their own."
_EQUAL_SIZES = re.compile(r"[^ =<>*+/%-]+\.size\(\)\[\d+\] == [^ =<>*+/%-]+\.size\(\)\[\d+\]")
_COMPARED = (
    "The code compares these sizes, and a compile is for one answer: pass sizes in each call for which `{condition}` "
    "is true, or compile a function of its own for the others."
)
_KEYS = re.compile(r"DispatchKeySet\((Sparse(?:Csr)?|Mkldnn|Nested(?:Tensor)?|Quantized|)(\w+)")
_LAYOUTS = "Give it tensors of one layout (dense, sparse …) in each call."
_FROM_THE_FIRST_CALL = "Compile with `dynamic=True`: it is dynamic from the first call on."
"""The remedy for a number that a later compile made dynamic."""
BOUNDS = "The {what} is dynamic already: a condition on it is compiled once for each outcome."
_ALIASES = (
    "Dynamo compiled it for calls that pass one object as all of these: pass one object in each call, or in "
    "none, as `x.view_as(x)` is another object; else it is compiled again. Their values do not matter."
)
_DUPLICATES = (
    "Dynamo compiled it for different tensors: do not pass one of them twice (pass a `.clone()`); else it is compiled "
    "again for that. Their values do not matter."
)


_UNBACKED = (
    "Before the call: `torch._dynamo.decorators.mark_unbacked({}, {})`, so that 0 and 1 need no compile of their own. "
    "Python cannot decide by the size then."
)
_PARAMETERS = "force_parameter_static_shapes"
"""In a hint of torch's for each recompile because of a parameter, which helps where its size has changed."""
_ATTRIBUTE = "allow_unspec_int_on_nn_module"
_OF_PARAMETERS = (
    "Dynamo gives parameters fixed sizes: set `torch._dynamo.config.force_parameter_static_shapes = False` "
    "before the first call, which lets them become dynamic (in modules of torch's own classes also "
    "`torch._dynamo.config.force_nn_module_property_static_shapes = False`)."
)
_OF_ATTRIBUTE = (
    f"Set `torch._dynamo.config.{_ATTRIBUTE} = True`: the number is dynamic from its second value on, with "
    "`dynamic=True` from the first; or, where it is only computed with, keep it in a tensor, such as a buffer."
)


def remedies_of(cause: Cause) -> list[str]:
    """Return what helps against a cause: Dynamo's hints, then Dynascope's."""
    if _is_of_training(cause.about) and cause.compiles and len({*cause.values}) == 1:
        return [USUAL]
    if is_tensor_or_none(cause.first.guard, cause.values):
        return [_NONE]
    hints = [each.hint for each in cause.entries if each.hint]
    return remedies([each.guard for each in cause.entries], hints, cause.known)


def remedies(guards: Sequence[str], hints: Sequence[str], known: Known = NOTHING) -> list[str]:
    """Return advice on guards that failed for one value: Dynamo's hints, and Dynascope's."""
    kind = guarded_value(guards[0]).kind
    hints = [_in_own_words(hint, guards[0]) for hint in hints if kind == "size" or _PARAMETERS not in hint]
    slots = [_SLOT.format(slot) for guard in guards for slot in re.findall(r"___stack\d+", guard)]
    if RANGE_OF_MARK in hints or (hints and all(map(is_bound_of_two, guards))):
        return list(dict.fromkeys([*slots, *hints]))
    return list(dict.fromkeys([*slots, *hints, *_remedy(guards, bool(hints), known)]))


def _in_own_words(hint: str, guard: str) -> str:
    """Return a hint of torch's about a guard, or what Dynascope says in its place."""
    subject = guarded_value(guard)
    if "mark_unbacked(" in hint and subject.kind == "size":
        return _UNBACKED.format(subject.expression, subject.dimension)
    return next(
        (text for name, text in ((_ATTRIBUTE, _OF_ATTRIBUTE), (_PARAMETERS, _OF_PARAMETERS)) if name in hint), hint
    )


def _remedy(guards: Sequence[str], is_hinted: bool, known: Known) -> list[str]:
    subject = guarded_value(guards[0])
    if subject.kind == "lifetime":
        return [] if "___stack" in subject.expression else [_GONE]
    if subject.kind == "size":
        return _against_size(subject, guards, known)
    if subject.kind == "aliases":
        parted = {guard.startswith("Duplicate") for guard in guards}
        return [text for is_one, text in ((False, _ALIASES), (True, _DUPLICATES)) if is_one in parted]
    if subject.kind == "value" and _LEARNING_RATE.search(subject.expression):
        return [_TENSOR_FOR_IT]
    if subject.kind == "value":
        return [] if is_hinted else [_against_value(guards, known)]
    if subject.kind == "attribute" and "hasattr(" not in guards[0] and not subject.expression.endswith("__dict__"):
        return [_MEMBERSHIP]
    if is_first_state(subject, guards[0]):
        return [_FIRST_STEP]
    return _by_kind(subject, guards[0], known)


def _is_of_training(cause: str) -> bool:
    """Whether it is what differs between training and evaluation."""
    return cause == "grad_mode" or cause.endswith(".training")


def _by_kind(subject: GuardedValue, guard: str, known: Known) -> list[str]:
    if guard == NO_GUARD:
        return [_AT_ONCE]
    if subject.kind in ("length", "keys") and known.keyed is not None:
        return [_KEYED[known.keyed]]
    if subject.kind == "requires_grad" and "._parameters[" in subject.expression:
        return [_OF_PARAMETER]
    if subject.kind == "sizes" and _EQUAL_SIZES.fullmatch(guard) is None:
        return [_COMPARED.format(condition=readable(guard))]
    text = _BY_KIND.get(subject.kind)
    if subject.kind == "type" and wanted(guard, subject) in ("be int", "be float"):
        text = _TYPE_OF_NUMBER.format(name=readable(subject.expression))
    if subject.kind == "dtype" and known.together:
        text = _DTYPES.format(listed([f"`{each}`" for each in known.together]))
    keys = _KEYS.findall(guard)
    if len({layout for layout, _ in keys}) > 1:
        text = _LAYOUTS
    elif len({device for _, device in keys}) > 1:
        text = _BY_KIND["device"]
    return [text] if text is not None else []


def _against_size(subject: GuardedValue, guards: Sequence[str], known: Known) -> list[str]:
    bounds = [guard for guard in guards if "mismatch" not in guard]
    fixed = [guard for guard in guards if {*sizes_seen(guard)} & {0, 1}]
    changed = [guard for guard in guards if guard not in bounds and guard not in fixed]
    if bounds and not changed:
        return [BOUNDS.format(what="size")]
    if "._parameters[" in subject.expression:
        return []
    if is_buffer(subject):
        return [_BUFFER]
    name, dimension = readable(subject.expression), subject.dimension or 0
    gains_nothing = bool(changed and (fixed or bounds)) and _spares_nothing(known.spared)
    told = [] if gains_nothing else [size_advice(name, dimension, changed or guards, known)]
    told += [BY_ITSELF.format(name=name)] if changed and fixed else []
    is_layout = known.spared is not None and known.spared.needs_layout  # then the condition is on strides
    return told + ([BOUNDS.format(what="size")] if bounds and not is_layout else [])


def _against_value(guards: Sequence[str], known: Known) -> str:
    if is_bound(guards[0]):
        return BOUNDS.format(what="number")
    if all(guard.endswith(" None") for guard in guards):
        return _NONE
    if (known.served or known.is_dynamic_now) and known.dynamic is None:
        return BOUNDS.format(what="number") if _spares_nothing(known.spared) else _FROM_THE_FIRST_CALL
    if not _is_number(guards[0]):
        return _VARIANTS
    if known.needed_at is not None:
        if known.fixed_in:
            return _NEEDED_BY_BACKEND.format(backend=known.fixed_in)
        path, line = known.needed_at
        return _NEEDED.format(line=line, file=PurePath(path).name)
    return _OF_MODULE if _GLOBAL.match(guards[0]) else _NUMBERS[known.dynamic]


def _spares_nothing(spared: Spared | None) -> bool:
    """Whether it is known that no compile would have been spared, whatever else is mended."""
    return spared is not None and spared.is_known and not (spared.by_dynamic or spared.by_marks or spared.held)


_GLOBAL = re.compile(r"G\['\w+'\] == -?\d+$")
_OF_MODULE = "Dynamo makes no global integer dynamic: pass it as an argument, or keep it in a tensor."


def _is_number(guard: str) -> bool:
    """Whether a guard compares with an int or a float."""
    try:
        expected = ast.literal_eval(guard.rpartition(" == ")[2])
    except (SyntaxError, ValueError):
        return False
    return type(expected) in (int, float)
