"""Find what the program has loaded from a file: its modules, and the function at a place in the source."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from dynascope.agent.program.user_code import real_path
from dynascope.explain.breakpoints import DISABLED


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
            return DISABLED.format(name=name, because=because)
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
_by_file_name: dict[str, list[str]] = {}
"""The names of the modules that come from files of each base name. References to modules would keep them alive."""
_indexed = 0
"""The number of modules of which the names are in `_by_file_name`."""


def modules_of(path: str) -> Iterator[types.ModuleType]:
    """Yield the modules that come from this file (a real path).

    Reads `sys.modules` and the dictionaries of modules, so that no `__getattr__` runs.
    """
    global _indexed
    if _indexed != len(sys.modules):
        _indexed = len(sys.modules)
        _by_file_name.clear()
        for name, _, file in _loaded(sys.modules):
            _by_file_name.setdefault(_file_name(file), []).append(name)
    found = list(_from_file(path, _by_file_name.get(_file_name(path), ())))
    yield from found or _from_file(path, sys.modules)  # one may have taken the place of another


def _from_file(path: str, names: Iterable[str]) -> Iterator[types.ModuleType]:
    name = _file_name(path)
    return (module for _, module, file in _loaded(names) if _file_name(file) == name and real_path(file) == path)


def _file_name(path: str) -> str:
    return path.rpartition(os.sep)[2]


def paths_loaded() -> list[str]:
    """Return the file of each module, by the name that the module has for it."""
    return [file for _, _, file in _loaded(sys.modules)]


def _loaded(names: Iterable[str]) -> Iterator[tuple[str, types.ModuleType, str]]:
    for name in list(names):
        module = sys.modules.get(name)
        members = getattr(module, "__dict__", None) if isinstance(module, types.ModuleType) else None
        file = members.get("__file__") if members else None
        if isinstance(module, types.ModuleType) and isinstance(file, str):
            yield name, module, file


def is_loaded(path: str) -> bool:
    """Whether a module comes from this file (a real path), or it is no Python file."""
    known = _known.get(path)
    if known is None or (not known[1] and known[0] != len(sys.modules)):
        is_there = not path.endswith(".py") or next(modules_of(path), None) is not None
        known = _known[path] = len(sys.modules), is_there
    return known[1]
