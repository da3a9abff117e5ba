"""Advice against recompiles, by the kind of value that changed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dynascope.facts.recompiles.guarded_value import Kind, guarded_value, readable

_BY_KIND: dict[Kind, str] = {
    "stride": "Give it the same memory layout in each call: `.contiguous()` before the call.",
    "dtype": "Convert it to one dtype before the call; else there is a compile for each.",
    "rank": "Give it the same number of dimensions in each call; else there is a compile for each.",
    "requires_grad": "Call it with the same `requires_grad` each time: `.detach()` tensors that need no gradient.",
    "device": "Call it with tensors of one device; else there is a compile for each.",
    "sizes": "Sizes that were equal in one call were not in another: a compile fits one of the two.",
    "length": "Each length is compiled on its own: keep it the same, or stack the elements into one tensor.",
    "type": "Give it objects of one type; else there is a compile for each.",
    "identity": "Pass the same object each time: each new object, such as a lambda, is compiled again.",
    "keys": "Keep the keys and their order the same in each call.",
    "attribute": "Set all attributes before the first call: each later one is compiled again.",
    "global state": "Call it in the same state each time: gradients on or off, autocast, default dtype, threads.",
}
_VARIANTS = "Each value is compiled on its own: pass few of them, or decide outside of the compiled function."
_NUMBERS = (
    "Dynamo makes a number dynamic when it has seen a second value, but not 0 and 1, nor where Python needs the value "
    "(a loop, a condition): keep it the same there, or in a tensor."
)
_BOUNDS = "The size is dynamic already: a condition on it is compiled once for each outcome."


def remedies(guards: Sequence[str], hints: Sequence[str]) -> list[str]:
    """Return advice on guards that failed for one value: Dynamo's hints, and Dynascope's."""
    return list(dict.fromkeys([*hints, *_remedy(guards, bool(hints))]))


def _remedy(guards: Sequence[str], is_hinted: bool) -> list[str]:
    subject = guarded_value(guards[0])
    if subject.kind == "size":
        if any("mismatch" not in guard for guard in guards):
            return [_BOUNDS]
        if "._parameters[" in subject.expression:
            return []
        place = f"{readable(subject.expression)}, {subject.dimension}"
        return [f"Before the call: `torch._dynamo.mark_dynamic({place})`; or compile with `dynamic=True`."]
    if subject.kind == "value":
        if is_hinted:
            return []
        return [_NUMBERS if _is_number(guards[0]) else _VARIANTS]
    text = _BY_KIND.get(subject.kind)
    return [text] if text is not None else []


def _is_number(guard: str) -> bool:
    """Whether a guard compares with an int or a float."""
    try:
        expected = ast.literal_eval(guard.rpartition(" == ")[2])
    except (SyntaxError, ValueError):
        return False
    return type(expected) in (int, float)
