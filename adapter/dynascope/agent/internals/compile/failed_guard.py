"""What a failed guard met: its text names a local, and the frame that is compiled again has its value."""

from __future__ import annotations

import re
from typing import Any

from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor, tensor_text

_LOCAL = re.compile(r"L\['(\w+)'\]|tensor '(?:L\['(\w+)'\]|(\w+))'|^(\w+) (?:==|!=|is|in|<|>)")
_PLAIN = frozenset({int, float, bool, str, bytes, complex, type(None)})
_VALUE_LENGTH = 120


def value_met(guard: str, frame: Any) -> str | None:
    """`x: f32[12, 16]`: the local that the guard is about, in this call (`f_locals` of Dynamo's frame, 2.0)."""
    found = _LOCAL.search(guard)
    if found is None:
        return None
    name = next(part for part in found.groups() if part)
    values = frame.f_locals
    if name not in values:
        return None
    return f"{name}: {_text(values[name])}"


def _text(value: Any) -> str:
    if is_tensor(value):
        return tensor_text(value)
    if type(value) in _PLAIN:
        return repr(value)[:_VALUE_LENGTH]
    if type(value) in (list, tuple, dict, set):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__qualname__
