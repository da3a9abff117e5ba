"""Write what guards want of which values, and the lines that need it, from torch's text of each guard."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value, readable, wanted

_NAMED = 3
"""The maximum number of values that are named."""
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


def condition(text: str) -> str:
    """Return a guard without the line that torch names for it."""
    return text.partition("  # ")[0].strip()


def must(subject: GuardedValue, clause: str) -> str:
    """Return what a guard wants of its value: `x.size()[0] must be 3`."""
    names_all = subject.kind in ("identity", "keys", "elements", "attribute")
    return f"{readable(subject.expression) if names_all else subject.text} must {clause}"


def sentences(guards: Iterable[str]) -> list[str]:
    """Tell what each guard wants of which value, and the line that needs it."""
    return list(dict.fromkeys(_sentence(text) for text in _ordered(guards)))


def some_values(guards: Iterable[str]) -> str:
    """Name the first values that could change."""
    named = list(dict.fromkeys(f"{_value(text)}{_place(text)}" for text in _ordered(guards)))
    more = len(named) - _NAMED
    return ", ".join(named[:_NAMED]) + (f", and {more} more" if more > 0 else "") + "."


def plain(text: str) -> str:
    """Write modules and builtins, which Dynamo finds by names of its own, as in a program."""
    named = _IMPORTED.sub(lambda found: found[1].replace("_dot_", "."), _BUILTIN.sub(r"\1", text))
    return named.replace("__main__.", "")


def _ordered(gone: Iterable[str]) -> list[str]:
    """Return guards on values, then on torch's own state; none on marks of dynamic sizes."""
    return sorted((text for text in gone if not _MARK.search(condition(text))), key=lambda text: bool(_of_torch(text)))


def _of_torch(text: str) -> str | None:
    kind, _, code = condition(text).partition(": ")
    return "hooks on saved tensors" if _SAVED_TENSORS_HOOKS in code else _OF_TORCH.get(kind)


def _value(text: str) -> str:
    code = condition(text).partition(": ")[2]
    tensor = _TENSOR.match(code)
    return _of_torch(text) or plain(readable(tensor["name"]) if tensor is not None else guarded_value(code).text)


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
        told = must(subject, clause)
    else:
        told = readable(code)
    place = _place(text)
    return plain(f"{told}{place[:-1]} needs this)" if place else told)


def _place(text: str) -> str:
    """Return ` (model.py:20)` from the line that torch names; "" for none."""
    found = _LINE.search(text)
    return "" if found is None or _of_torch(text) else f" ({found[1].rpartition('/')[2]}:{found[2]})"
