"""The names that function breakpoints give functions, with `*` and `?` as in a shell."""

from __future__ import annotations

import fnmatch


def names_function(pattern: str, qualified_name: str) -> bool:
    """Whether `pattern` names a function: its qualified name, the end of it after a dot, or a glob of either.

    `<locals>` may be left out: `outer.inner` names `outer.<locals>.inner`.
    """
    names = {qualified_name, qualified_name.replace(".<locals>", "")}
    return any(fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"*.{pattern}") for name in names)
