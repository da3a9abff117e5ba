"""Names of files for every text: cells of notebooks are `In [3]`, other files have their own."""

from __future__ import annotations

import os.path
from collections.abc import Callable

_names: list[Callable[[str], str | None]] = []
"""At most one: see `name_files`."""


def given_name(path: str) -> str | None:
    """Return the name of a file that `name_files` gives it."""
    return _names[0](path) if _names else None


def short_name(path: str) -> str:
    """Return the name of a file in a text: `In [3]` for a cell, else its own without folders."""
    return given_name(path) or os.path.basename(path)


def name_files(name: Callable[[str], str | None]) -> None:
    """Call files in every text what `name` returns for their paths; None: by their own names."""
    _names[:] = [name]
