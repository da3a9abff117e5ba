"""Whether the program has loaded a file."""

from __future__ import annotations

import os.path
import sys

from dynascope.agent.program.user_code import real_path

_known: dict[str, tuple[int, bool]] = {}
"""For each path, the number of modules when it was looked for, and whether one of them was it."""


def is_loaded(path: str) -> bool:
    """Whether a module comes from this file (a real path), or it is no Python file."""
    modules = sys.modules
    known = _known.get(path)
    if known is None or (not known[1] and known[0] != len(modules)):
        known = _known[path] = len(modules), not path.endswith(".py") or _is_among(path, list(modules.values()))
    return known[1]


def _is_among(path: str, modules: list[object]) -> bool:
    name = os.path.basename(path)
    for module in modules:
        file = getattr(module, "__dict__", {}).get("__file__")
        if type(file) is str and os.path.basename(file) == name and real_path(file) == path:
            return True
    return False
