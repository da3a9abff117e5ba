"""Read from the syntax alone how a block of code ends, and whether a call runs it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dynascope_lsp.documents.syntax import FunctionNode


def leaves(body: Iterable[ast.stmt]) -> bool:
    """Whether a loop's body may return from the function."""
    return any(isinstance(node, ast.Return) for node in _own(body))


def breaks_out(body: Iterable[ast.stmt]) -> bool:
    """Whether a loop's body has a `break` (one of a loop inside counts, too)."""
    return any(isinstance(node, ast.Break) for node in _own(body))


def raises(node: ast.If) -> bool:
    """Whether a branch ends with `raise`, so that the code after the `if` usually runs."""
    return any(branch and isinstance(branch[-1], ast.Raise) for branch in (node.body, node.orelse))


def is_generator(node: ast.AST) -> bool:
    """Whether a call of the function runs none of its code: a generator or a coroutine."""
    if isinstance(node, ast.AsyncFunctionDef):
        return True
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(each, ast.Yield | ast.YieldFrom) for each in _own(node.body)
    )


def _own(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Iterate over nodes, except those inside of nested functions and classes."""
    for node in body:
        yield node
        if not isinstance(node, FunctionNode | ast.Lambda | ast.ClassDef):
            yield from _own(ast.iter_child_nodes(node))
