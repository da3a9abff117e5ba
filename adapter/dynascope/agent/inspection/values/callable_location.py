"""Find a hook's function in the user's files."""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.autograd import nodes as autograd_nodes


@dataclass(frozen=True, slots=True)
class Place:
    """A callable's name and place; `path` and `line` are None if it is not written in Python."""

    name: str
    path: str | None = None
    line: int | None = None


def place_of(function: Any) -> Place:
    """Return the place of a function, without running code of the user.

    Partials, bound methods, `__call__` and torch's wrappers of a module's hooks are resolved, and all hooks named."""
    hooks = [_place_of(hook) for hook in autograd_nodes.module_hooks_behind(function)]
    if not hooks:
        return _place_of(function)
    return Place(", ".join(place.name for place in hooks), hooks[0].path, hooks[0].line)


def _place_of(function: Any) -> Place:
    inner = function
    for _ in range(8):
        if isinstance(inner, functools.partial):
            inner = inner.func
        elif isinstance(inner, types.MethodType):
            inner = inner.__func__
        elif isinstance(inner, types.FunctionType) and isinstance(
            inner.__dict__.get("__wrapped__"), types.FunctionType
        ):
            inner = inner.__dict__["__wrapped__"]
        else:
            break
    if isinstance(inner, types.BuiltinFunctionType):
        return Place(inner.__name__)
    if not isinstance(inner, types.FunctionType):
        call = type(inner).__dict__.get("__call__")
        name = type(inner).__qualname__ if not hasattr(type(inner), "__get__") else getattr(inner, "__qualname__", "?")
        if not isinstance(call, types.FunctionType):
            return Place(name)
        return Place(name, call.__code__.co_filename, call.__code__.co_firstlineno)
    return Place(inner.__qualname__, inner.__code__.co_filename, inner.__code__.co_firstlineno)
