"""Names in function breakpoints, with `*` and `?` as in a shell."""

from __future__ import annotations

import fnmatch
from pathlib import PurePath


def names_function(pattern: str, qualified_name: str) -> bool:
    """Whether `pattern` names a function: its qualified name, its end after a dot, or a glob."""
    return any(
        fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"*.{pattern}")
        for name in _spellings(qualified_name)
    )


def names_function_of(pattern: str, qualified_name: str, path: str) -> bool:
    """Whether `pattern` names a function of this file; its module or package may come before."""
    return names_function(pattern, qualified_name) or _names_in_module(pattern, qualified_name, path)


def _names_in_module(pattern: str, qualified_name: str, path: str) -> bool:
    """Whether `pattern` is a name as one imports it: `package.module.Class.method`.

    The module may be left out after its package, as in `torch.nn.Linear.forward`.
    """
    folders = f".{'.'.join(PurePath(path).with_suffix('').parts)}."
    words = pattern.split(".")
    return any(
        f".{'.'.join(words[:count])}." in folders and fnmatch.fnmatchcase(name, ".".join(words[count:]))
        for name in _spellings(qualified_name)
        for count in range(1, len(words))
    )


def _spellings(qualified_name: str) -> set[str]:
    return {qualified_name, qualified_name.replace(".<locals>", "")}
