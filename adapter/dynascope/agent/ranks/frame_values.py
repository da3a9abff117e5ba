"""Read in the frames of a rank that waits what the conditions of their functions ask, without running its code."""

from __future__ import annotations

import ast
import sys
import traceback
import types
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.ranks.called import users_frames
from dynascope.facts.comparison.plain_branches import FrameValues, names_read

_MOST_NAMES = 32
"""The most names that are read in a frame."""
_LONGEST = 60
"""The most characters of a value."""
_UNKNOWN: Any = object()


def values_in(frames: Iterable[tuple[types.FrameType, int]]) -> list[FrameValues]:
    """Return the values in the user's frames.

    Each frame is passed with its line, the innermost first.
    """
    found = []
    for frame, user in users_frames(frames):
        with suppress(Exception):  # an object of the program may have anything in its `__dict__`
            values = _values(names_read(user.path, user.line)[:_MOST_NAMES], frame)
            if values:
                found.append(FrameValues(user.path, user.function, values))
    return found


def values_of_thread(thread: int) -> list[FrameValues]:
    """Return the values in the user's frames of a thread that waits."""
    return values_in(traceback.walk_stack(frame)) if (frame := sys._current_frames().get(thread)) is not None else []


def _values(names: Iterable[str], frame: types.FrameType) -> dict[str, str]:
    local = locals_of(frame)
    read = {name: _text(_value(ast.parse(name, mode="eval").body, local, frame.f_globals)) for name in names}
    return {name: text for name, text in read.items() if text is not None}


def _value(node: ast.expr, local: Mapping[str, Any], globals_: Mapping[str, Any]) -> Any:
    """Return the value of a name, an attribute or an element.

    `_UNKNOWN` where code of the program would have to run.
    """
    match node:
        case ast.Name(id=name):
            return local.get(name, globals_.get(name, _UNKNOWN))
        case ast.Attribute(value=owner, attr=name):
            return _attribute(_value(owner, local, globals_), name)
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            container = _value(owner, local, globals_)
            if type(container) is dict:
                return container.get(key, _UNKNOWN)
            is_there = type(container) in (list, tuple) and type(key) is int and key < len(container)
            return container[key] if is_there else _UNKNOWN
        case ast.Call(args=[operand]):
            counted = _value(operand, local, globals_)
            return len(counted) if type(counted) in (list, tuple, dict, set, str) else _UNKNOWN
    return _UNKNOWN


def _attribute(owner: Any, name: str) -> Any:
    if owner is _UNKNOWN:
        return _UNKNOWN
    try:
        own = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return _UNKNOWN
    return own.get(name, _UNKNOWN) if type(own) is dict else _UNKNOWN


def _text(value: Any) -> str | None:
    """Return a value as text; None for an object of the program."""
    if value is None or type(value) in (bool, int, float, str):
        text = f"{value:.6g}" if type(value) is float else repr(value)
        return text if len(text) <= _LONGEST else None
    if type(value) in (list, tuple, dict, set):
        return f"of length {len(value)}"
    tensor = sys.modules["torch"].Tensor
    if type(value) is tensor:
        if value.numel() == 1 and value.device.type == "cpu":
            return _text(value.item())
        return f"of size {list(value.shape)}"
    return None
