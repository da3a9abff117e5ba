"""Names in function breakpoints, with `*` and `?` as in a shell."""

from __future__ import annotations

import fnmatch


def names_function(pattern: str, qualified_name: str) -> bool:
    """Whether `pattern` names a function: its qualified name, its end after a dot, or a glob."""
    names = {qualified_name, qualified_name.replace(".<locals>", "")}
    return any(fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"*.{pattern}") for name in names)
