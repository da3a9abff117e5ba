"""Names of files for every text: cells of notebooks are `In [3]`, other files have their own."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Collection

PACKAGES = "/site-packages/", "/dist-packages/"
_LIBRARIES = (*PACKAGES, "/lib/python3.")
_names: list[Callable[[str], str | None]] = []
"""At most one: see `name_files`."""


def given_name(path: str) -> str | None:
    """Return the name of a file that `name_files` gives it."""
    return _names[0](path) if _names else None


def short_name(path: str) -> str:
    """Return the name of a file in a text: `In [3]` for a cell, else its own without folders."""
    return given_name(path) or os.path.basename(path)


def is_of_library(path: str) -> bool:
    """Whether a file is one of an installed library."""
    return any(marker in path.replace(os.sep, "/") for marker in _LIBRARIES)


def told_apart(folders: Collection[str]) -> dict[str, str]:
    """Return as much of the end of each path as tells it from the others.

    Of a single path that is nothing.
    """
    parts = {each: each.split(os.sep) for each in folders}
    length = 0
    while length < max(map(len, parts.values()), default=0):
        names = {each: os.sep.join(found[len(found) - length :]) for each, found in parts.items()}
        if len({*names.values()}) == len(names):
            return names
        length += 1
    return {each: each for each in folders}


def name_files(name: Callable[[str], str | None]) -> None:
    """Call files in every text what `name` returns for their paths; None: by their own names."""
    _names[:] = [name]
