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


def is_periodic(test: ast.expr) -> bool:
    """Whether a test is true every so many times, such as `step % 10 == 0`."""
    match test:
        case ast.Compare(left=ast.BinOp(op=ast.Mod()), ops=[ast.Eq()], comparators=[ast.Constant()]):
            return True
        case ast.BinOp(op=ast.Mod()) | ast.UnaryOp(op=ast.Not(), operand=ast.BinOp(op=ast.Mod())):
            return True
    return False


def asks_if_empty(test: ast.expr) -> bool:
    """Whether a test is for no elements, which hardly ever holds: `x.shape[0] == 0`."""
    match test:
        case ast.Compare(left=ast.Subscript(value=ast.Attribute(attr="shape"))) | ast.Compare(left=ast.Call()):
            return isinstance(test.ops[0], ast.Eq) and ast.unparse(test.comparators[0]) == "0"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="len"))):
            return True
    return False


def asks_if_any(test: ast.expr) -> bool:
    """Whether a test is for any elements, which nearly always holds: `x.numel() > 0`."""
    match test:
        case ast.Compare(left=ast.Call(), ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]):
            called = ast.unparse(test.left)
            return called.startswith("len(") or called.endswith((".numel()", ".size(0)"))
    return False


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
