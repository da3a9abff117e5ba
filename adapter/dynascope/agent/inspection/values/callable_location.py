"""Where a hook's function stands in the user's files."""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.autograd import nodes as autograd_nodes


@dataclass(frozen=True, slots=True)
class Place:
    """A callable's name and where it is written; `path` and `line` are None when it is not written in Python."""

    name: str
    path: str | None = None
    line: int | None = None


def place_of(function: Any) -> Place:
    """Looks through partials and bound methods, at the `__call__` of an object, and behind what torch wraps around the
    hooks of a module, all of which it then names; runs nothing of the user's."""
    behind = [_place_of(each) for each in autograd_nodes.module_hooks_behind(function)]
    if not behind:
        return _place_of(function)
    return Place(", ".join(place.name for place in behind), behind[0].path, behind[0].line)


def _place_of(function: Any) -> Place:
    found = function
    for _ in range(8):
        if isinstance(found, functools.partial):
            found = found.func
        elif isinstance(found, types.MethodType):
            found = found.__func__
        elif isinstance(found, types.FunctionType) and isinstance(
            found.__dict__.get("__wrapped__"), types.FunctionType
        ):
            found = found.__dict__["__wrapped__"]
        else:
            break
    if isinstance(found, types.BuiltinFunctionType):
        return Place(found.__name__)
    if not isinstance(found, types.FunctionType):
        call = type(found).__dict__.get("__call__")
        name = type(found).__qualname__ if not hasattr(type(found), "__get__") else getattr(found, "__qualname__", "?")
        if not isinstance(call, types.FunctionType):
            return Place(name)
        return Place(name, call.__code__.co_filename, call.__code__.co_firstlineno)
    return Place(found.__qualname__, found.__code__.co_filename, found.__code__.co_firstlineno)
