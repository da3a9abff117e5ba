"""Name the variables of outer functions that a function reads, which guards know by their numbers."""

from __future__ import annotations

import re
import symtable
import tokenize
from functools import lru_cache

from dynascope.facts.branch import words_at
from dynascope.facts.comparison.plain_code import without_escapes

_CELL = re.compile(r".*\.__closure__\[(\d+)\]\.cell_contents")
_MOST_BYTES = 1 << 20
"""The largest source that is read, in bytes."""


def variable_in_cell(source: str, path: str, line: int) -> str | None:
    """Return the name of a variable that a guard is on, `loss.__closure__[0].cell_contents`.

    `line` is the one that reads it. None for another source, and without the text of the file.
    """
    found = _CELL.fullmatch(source)
    if found is None:
        return None
    named = _outer_variables(path, line)[int(found[1]) :][:1]
    return named[0] if named and named[0] in words_at(path, line) else None


@lru_cache(256)
def _outer_variables(path: str, line: int) -> tuple[str, ...]:
    """Return the outer variables of the last function that begins before a line.

    They are in the order of `co_freevars`.
    """
    try:
        with tokenize.open(path) as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            return ()
        waiting: list[symtable.SymbolTable] = [symtable.symtable(without_escapes(text), path, "exec")]
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    before: list[symtable.Function] = []
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        if isinstance(table, symtable.Function) and table.get_lineno() <= line and table.get_frees():
            before.append(table)
    # a function that has ended before the line may be later than the one around it: it has other names
    return tuple(sorted(max(before, key=symtable.Function.get_lineno).get_frees())) if before else ()
