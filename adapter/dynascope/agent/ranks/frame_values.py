"""Read in the frames of a rank that waits what the conditions of their functions ask, without running its code."""

from __future__ import annotations

import ast
import ctypes
import sys
import time
import traceback
import types
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.ranks.called import users_frames
from dynascope.facts.comparison.plain_branches import FrameValues, names_read

_MOST_NAMES = 48
"""The most names that are read in a frame."""
_LONGEST = 60
"""The most characters of a value."""
_MOST_ATTRIBUTES = 96
"""The most attributes of objects that are read in a frame."""
_PLAIN = (bool, int, float, str, bytes, type(None), type, types.ModuleType, types.FunctionType)
_SCALARS: dict[str, Any] = {
    "torch.float32": ctypes.c_float,
    "torch.float64": ctypes.c_double,
    "torch.int32": ctypes.c_int32,
    "torch.int64": ctypes.c_int64,
    "torch.bool": ctypes.c_bool,
}
_SHARE = 0.02
"""The most time that a process spends on values as collectives begin, as a share of all time."""
_MOST_SECONDS = 0.2
"""The most seconds that it spends on many at once."""
_UNKNOWN: Any = object()


def values_in(frames: Iterable[tuple[types.FrameType, int]]) -> list[FrameValues]:
    """Return the values in the user's frames.

    Each frame is passed with its line, the innermost first.
    """
    found = []
    users = [*users_frames(frames)]
    for at, (frame, user) in enumerate(users):
        values: dict[str, str] = {}
        objects: list[dict[str, str]] = []
        with suppress(Exception):  # an object of the program may have anything in its `__dict__`
            values = _values(names_read(user.path, user.line)[:_MOST_NAMES], frame)
            values = {**_attributes(locals_of(frame)), **values}
            objects = [_names_there(frame, caller) for caller, _ in users[at + 1 :]]
        found.append(FrameValues(user.path, user.function, values, objects))
    return found


class ValuesAtCalls:
    """Read the values in this thread's frames as collectives begin, in a small share of the program's time."""

    def __init__(self) -> None:
        self._left = _MOST_SECONDS
        self._since = time.perf_counter()

    def read(self) -> list[FrameValues] | None:
        """Return the values; None where reading them has taken its share of the time."""
        began = time.perf_counter()
        self._left = min(_MOST_SECONDS, self._left + _SHARE * (began - self._since))
        self._since = began
        if self._left <= 0:
            return None
        found = values_in(traceback.walk_stack(sys._getframe()))
        self._left -= time.perf_counter() - began
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
    return _UNKNOWN if owner is _UNKNOWN else _own(owner).get(name, _UNKNOWN)


def _own(owner: Any) -> dict[str, Any]:
    """Return the attributes of an object, and the parameters and modules of a module."""
    try:
        own = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    if type(own) is not dict or _is_plain(owner):
        return {}
    parts = (own.get(each) for each in ("_parameters", "_buffers", "_modules"))
    return {name: each for part in parts if type(part) is dict for name, each in part.items()} | own


def _is_plain(value: Any) -> bool:
    """Whether a value is no object of which attributes are read.

    Its `__class__` is not asked: that may be code of the program.
    """
    return issubclass(type(value), _PLAIN)


def _attributes(local: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes of objects of the program in local variables."""
    found = {
        f"{name}.{attribute}": text
        for name, owner in local.items()
        if not _is_plain(owner)
        for attribute, value in _own(owner).items()
        if not attribute.startswith("_") and (text := _text(value)) is not None
    }
    return dict(islice(found.items(), _MOST_ATTRIBUTES))


def _names_there(frame: types.FrameType, caller: types.FrameType) -> dict[str, str]:
    """Return a caller's names for objects in local variables: `guard` for `self`."""
    known: dict[int, str] = {}
    for name, value in locals_of(caller).items():
        if not _is_plain(value):
            known.setdefault(id(value), name)
            for attribute, part in _own(value).items():
                if not _is_plain(part):
                    known.setdefault(id(part), f"{name}.{attribute}")
    local = ((name, value) for name, value in locals_of(frame).items() if not _is_plain(value))
    return {name: known[id(value)] for name, value in local if id(value) in known}


def _text(value: Any) -> str | None:
    """Return a value as text; None for an object of the program."""
    if value is None or type(value) in (bool, int, float, str):
        text = f"{value:.6g}" if type(value) is float else repr(value)
        return text if len(text) <= _LONGEST else None
    if type(value) in (list, tuple, dict, set):
        return f"of length {len(value)}"
    torch = sys.modules["torch"]
    if type(value) is torch.Tensor:
        with torch._C.DisableTorchFunction():  # no mode of the program may see it
            scalar = _SCALARS.get(str(value.dtype)) if value.device.type == "cpu" and value.numel() == 1 else None
            # its memory: an operator, such as that of `item()`, would be seen by modes and profilers
            return _text(scalar.from_address(value.data_ptr()).value) if scalar else f"of size {list(value.shape)}"
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in tuple('aeiou') else 'a'} {kind}" if _own(value) else None
