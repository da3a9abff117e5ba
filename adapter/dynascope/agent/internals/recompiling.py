"""Why Dynamo compiles a frame again: its reasons are text, such as `0/0: tensor 'x' size mismatch at index 0. …`."""

from __future__ import annotations

import os
import re
from typing import Any

from dynascope.agent.internals.fake_tensors import is_tensor, tensor_text

_COMPILE_ID = re.compile(r"^([!\d/]+): ", re.ASCII)
_USER_LINE = re.compile(r"# (?P<file>[^#\n]+?):(?P<line>\d+) in ")
_LOCAL = re.compile(r"L\['(\w+)'\]|tensor '(?:L\['(\w+)'\]|(\w+))'|^(\w+) (?:==|!=|is|in|<|>)")
_PLAIN = frozenset({int, float, bool, str, bytes, complex, type(None)})
_VALUE_LENGTH = 120


def split_reason(reason: str) -> tuple[str, str]:
    """(compile id whose guard failed, the guard): `guards.get_guard_fail_reason` (2.1) writes both, and more after it."""
    found = _COMPILE_ID.match(reason)
    compile_id, guard = (found.group(1), reason[found.end() :]) if found is not None else ("", reason)
    return compile_id, guard.partition("\nUser stack trace:")[0].partition("  # ")[0].strip()


def user_line(reason: str, near: str) -> tuple[str, int] | None:
    """The user's line the guard came from, when the reason names it; a shortened path is completed by `near`, a path."""
    found = _USER_LINE.search(reason)
    if found is None:
        return None
    file, line = found["file"].strip().rpartition("# ")[2], int(found["line"])
    if os.path.isabs(file):
        return os.path.realpath(file), line
    folder = os.path.dirname(near)
    while True:
        candidate = os.path.join(folder, file)
        if os.path.isfile(candidate):
            return os.path.realpath(candidate), line
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


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
