"""Find what the program has loaded from a file: its modules, and the function at a place in the source."""

from __future__ import annotations

import os.path
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from dynascope.agent.program.user_code import real_path


class FunctionKey(NamedTuple):
    """The identity of a function, independent of which code object was compiled for it."""

    path: str
    first_line: int
    name: str
    """The qualified name."""


def key_of(code: types.CodeType, path: str | None = None) -> FunctionKey:
    """Return the key of the function with this code; `path` is the file's real path, if known."""
    return FunctionKey(path or real_path(code.co_filename), code.co_firstlineno, code.co_qualname)


def find_function(path: str, key: FunctionKey) -> Any | None:
    """Return the function, or the object its decorators returned; None for nested functions.

    Reads the dictionaries of modules and classes, so that no descriptor or `__getattr__` runs.
    """
    for module in modules_of(path):
        target: Any = module
        for part in key.name.split("."):
            target = target.__dict__.get(part) if isinstance(target, types.ModuleType | type) else None
        if target is not None and any(_is_at(layer, key) for layer in _unwrapped(target)):
            return target
    return None


def disabled_because(function: Any | None) -> str | None:
    """Return the reason if `torch.compiler.disable` keeps Dynamo from tracing a function.

    It reads `_torchdynamo_disable` (2.0). With `recursive=False` (`_torchdynamo_disable_recursive`, 2.7) Dynamo does
    not inline the function but does begin a compile at it.
    """
    for layer in _unwrapped(function):
        marks = getattr(layer, "__dict__", {})
        is_wrapper = marks.get("_torchdynamo_disable") is True and "_torchdynamo_orig_callable" in marks
        if is_wrapper and marks.get("_torchdynamo_disable_recursive") is not False:
            reason = marks.get("_torchdynamo_disable_msg")
            because = f" ({reason})" if isinstance(reason, str) else ""
            name = getattr(layer, "__qualname__", "It")
            return f"{name} is under torch.compiler.disable{because}: Dynamo does not trace it."
    return None


def _unwrapped(function: Any) -> list[Any]:
    """Return `function` and the callables that its decorators wrap, outermost first."""
    layers: list[Any] = []
    while function is not None and all(function is not layer for layer in layers):
        if isinstance(function, staticmethod | classmethod):
            function = function.__func__
        if isinstance(function, property):
            function = function.fget
        layers.append(function)
        names = getattr(function, "__dict__", None)
        if not isinstance(names, dict):
            break
        function = names.get("_torchdynamo_orig_callable") or names.get("__wrapped__")
    return layers


def _is_at(function: Any, key: FunctionKey) -> bool:
    code = function.__code__ if isinstance(function, types.FunctionType) else None
    return code is not None and code.co_firstlineno == key.first_line


_known: dict[str, tuple[int, bool]] = {}
"""For each path, the number of modules when it was looked for, and whether one of them was it."""


def modules_of(path: str) -> Iterator[types.ModuleType]:
    """Yield the modules that come from this file (a real path).

    Reads `sys.modules` and the dictionaries of modules, so that no `__getattr__` runs.
    """
    name = os.path.basename(path)
    for module, file in _loaded():
        if os.path.basename(file) == name and real_path(file) == path:
            yield module


def paths_loaded() -> list[str]:
    """Return the file of each module, by the name that the module has for it."""
    return [file for _, file in _loaded()]


def _loaded() -> Iterator[tuple[types.ModuleType, str]]:
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None) if isinstance(module, types.ModuleType) else None
        file = names.get("__file__") if names else None
        if isinstance(module, types.ModuleType) and isinstance(file, str):
            yield module, file


def is_loaded(path: str) -> bool:
    """Whether a module comes from this file (a real path), or it is no Python file."""
    known = _known.get(path)
    if known is None or (not known[1] and known[0] != len(sys.modules)):
        is_there = not path.endswith(".py") or next(modules_of(path), None) is not None
        known = _known[path] = len(sys.modules), is_there
    return known[1]
