"""Read from a program's source whether a branch only raises an error."""

from __future__ import annotations

import ast
import linecache
import tokenize


def only_raises(path: str, line: int) -> bool:
    """Whether one side of the `if` on this line only raises; False without the source."""
    try:
        tree = ast.parse(_source(path))
    except (SyntaxError, ValueError, RecursionError):
        return False
    branches = [node for node in ast.walk(tree) if isinstance(node, ast.If) and _contains(node.test, line)]
    return any(_is_raise(side) for node in branches for side in (node.body, node.orelse))


def _source(path: str) -> str:
    try:
        with tokenize.open(path) as file:
            return file.read()
    except OSError:  # a cell of a notebook
        return "".join(linecache.getlines(path))


def _contains(test: ast.expr, line: int) -> bool:
    return test.lineno <= line <= (test.end_lineno or test.lineno)


def _is_raise(statements: list[ast.stmt]) -> bool:
    return len(statements) == 1 and isinstance(statements[0], ast.Raise)
