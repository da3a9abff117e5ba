"""Find the modules that the program has loaded from a file."""

from __future__ import annotations

import os.path
import sys
import types
from collections.abc import Iterator

from dynascope.agent.program.user_code import real_path

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
