"""Read from a program's source what a line does with a value: what a branch decides by it, or that it is collected.

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
from collections.abc import Iterable, Sequence
from typing import Literal

_BEGINS = re.compile(r"\s*((el)?if|assert|while)\b")
_APPENDS = re.compile(r"[\w.]+(?:\[[^\]]*\])?\.append\(.*\)(?:\s*#.*)?")
_GOES_ON = re.compile(r"\s*(else\b|elif\b|[)\]}])")
_LONGEST_TEST = 20
"""The most lines of a condition above the traced one."""
_LONGEST = 400
"""The most lines of a statement that is read."""


Branch = Literal["", "raises", "loop", "random", "collects"]
"""`raises`: an assertion, or an `if` of which one side only raises; `loop`: a `while`, or an `if` that ends a loop;
`random`: one whose condition has a random number of NumPy's, `if np.random.rand() < 0.5`; `collects`: no branch, but a
statement that appends to a list."""


def branch_at(path: str, line: int, is_of_call: bool = False) -> Branch:
    """Return what the condition on this line decides; "" without the source.

    `is_of_call`: only a call in the condition counts, and no other call may be on the line (`if bad: x.item()`).
    """
    lines = _lines(path)
    if line <= len(lines) and _APPENDS.fullmatch(lines[line - 1].strip()):
        return "collects"
    first = next((at for at in range(line, max(line - _LONGEST_TEST, 0), -1) if _begins(lines, at)), 0)
    if not first:
        return ""
    text = textwrap.dedent("".join(_statement(lines[first - 1 : first - 1 + _LONGEST]))).removeprefix("el")
    try:
        (found,) = ast.parse(text.replace("\\\n", " ").replace("\\", "/")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if not isinstance(found, ast.If | ast.Assert | ast.While) or line - first >= (found.test.end_lineno or 1):
        return ""
    if is_of_call and not (_calls([found.test]) and not _calls(_others(found), until=line - first + 1)):
        return ""
    if any(_draws(each) for each in ast.walk(found.test)):
        return "random"
    decided: Branch = "loop" if isinstance(found, ast.While) else "raises"
    if isinstance(found, ast.If):
        decided = next(filter(None, map(_of_side, (found.body, found.orelse))), "")
    # `torch._assert_async` raises another error, later, where what is raised here is caught
    return "" if decided == "raises" and _is_caught(lines, first) else decided


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
        more, is_code = _indentation(line) - indentation, line.lstrip()[:1] not in ("", "#")
        if is_code and (more < 0 or (more == 0 and not _GOES_ON.match(line))):
            return lines[:number]
    return lines


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_caught(lines: list[str], line: int) -> bool:
    """Whether a statement is in the body of a `try` with an `except`, in the same function."""
    indentation = _indentation(lines[line - 1])
    for number in range(line - 1, 0, -1):
        above = lines[number - 1]
        text = above.lstrip()
        if text[:1] in ("", "#", "\n") or _indentation(above) >= indentation:
            continue
        indentation = _indentation(above)
        if text.startswith("try:") and _has_handler(lines[number:], indentation):
            return True
        if re.match(r"(async )?def |class ", text):
            return False
    return False


def _has_handler(lines: Iterable[str], indentation: int) -> bool:
    """Whether the first clause that is indented so is an `except`."""
    clauses = (line.lstrip() for line in lines if line.strip() and _indentation(line) <= indentation)
    return next(clauses, "").startswith("except")


def _others(found: ast.If | ast.While | ast.Assert) -> list[ast.stmt] | list[ast.expr]:
    """Return what a statement has besides its condition."""
    if isinstance(found, ast.Assert):
        return [found.msg] if found.msg is not None else []
    return [*found.body, *found.orelse]


def _calls(parts: Sequence[ast.AST], until: int | None = None) -> bool:
    """Whether there is a call, on one of the first lines only."""
    nodes = (node for part in parts for node in ast.walk(part))
    return any(isinstance(node, ast.Call) and (until is None or node.lineno <= until) for node in nodes)


def _draws(node: ast.AST) -> bool:
    """Whether it is a call of a function of `np.random`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    return ast.unparse(node.func.value) in ("np.random", "numpy.random")


def _of_side(statements: list[ast.stmt]) -> Branch:
    if len(statements) == 1 and isinstance(statements[0], ast.Raise):
        return "raises"
    return "loop" if statements and isinstance(statements[-1], ast.Break) else ""
