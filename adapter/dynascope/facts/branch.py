"""Read from a program's source whether a branch only raises an error, as an assertion does.

It is read in the program, while it compiles: no more is parsed than the statement, and nothing of it can make Python
warn, as an invalid escape sequence does.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import textwrap
import tokenize

_BEGINS = re.compile(r"\s*((el)?if|assert)\b")
_GOES_ON = re.compile(r"\s*(else\b|elif\b|[)\]}])")
_LONGEST_TEST = 20
"""The most lines of a condition above the traced one."""
_LONGEST = 400
"""The most lines of a statement that is read."""


def only_raises(path: str, line: int) -> bool:
    """Whether this line asserts, or has an `if` of which one side only raises.

    False without the source.
    """
    lines = _lines(path)
    first = next((at for at in range(line, max(line - _LONGEST_TEST, 0), -1) if _begins(lines, at)), 0)
    if not first:
        return False
    text = textwrap.dedent("".join(_statement(lines[first - 1 : first - 1 + _LONGEST]))).removeprefix("el")
    try:
        (found,) = ast.parse(text.replace("\\\n", " ").replace("\\", "/")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if not isinstance(found, ast.If | ast.Assert) or line - first >= (found.test.end_lineno or 1):
        return False
    return isinstance(found, ast.Assert) or _is_raise(found.body) or _is_raise(found.orelse)


def _lines(path: str) -> list[str]:
    if not os.path.isfile(path):  # a cell of a notebook; a pipe must not be read
        return linecache.getlines(path)
    try:
        with tokenize.open(path) as file:
            return file.readlines()
    except (OSError, SyntaxError, ValueError):
        return []


def _begins(lines: list[str], line: int) -> bool:
    return line <= len(lines) and _BEGINS.match(lines[line - 1]) is not None


def _statement(lines: list[str]) -> list[str]:
    """Return the lines that belong to the statement on the first."""
    indentation = _indentation(lines[0])
    for number, line in enumerate(lines[1:], 1):
        more = _indentation(line) - indentation
        if line.strip() and (more < 0 or (more == 0 and not _GOES_ON.match(line))):
            return lines[:number]
    return lines


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_raise(statements: list[ast.stmt]) -> bool:
    return len(statements) == 1 and isinstance(statements[0], ast.Raise)
