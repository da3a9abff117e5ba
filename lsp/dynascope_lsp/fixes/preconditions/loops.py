"""Find what else breaks the graph in a loop: a break there leaves all of the loop to plain Python."""

from __future__ import annotations

import ast

from dynascope.explain.effects import in_same_loop

from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.place import Place

_READS = ("item", "tolist", "numpy", "backward")
_CONVERSIONS = ("float", "int", "bool")
_KNOWN = ("shape", "ndim", "dtype", "device", "dim", "size", "numel", "training", "is_cuda", "requires_grad")
"""What Dynamo knows of a tensor while it traces."""


def is_in_loop(place: Place) -> bool:
    """Whether the statement is part of a loop of the function."""
    return _loop(place) is not place.function.node


def check_loop(place: Place, mended: tuple[str, ...] = ()) -> None:
    """Raise Refused if another statement of the loop breaks the graph.

    `mended`: calls that the fix mends, too.
    """
    loop = _loop(place)
    if loop is place.function.node:
        return
    for each in ast.walk(loop):
        if _breaks(place, each, mended) and place.index.statement_of(each) is not place.statement:
            raise Refused(in_same_loop(getattr(each, "lineno", 0)))


def _loop(place: Place) -> ast.AST:
    """Return the outermost loop around the statement; the function if there is none."""
    for each in ast.walk(place.function.node):
        if isinstance(each, ast.For | ast.While) and any(node is place.statement for node in ast.walk(each)):
            return each
    return place.function.node


def _breaks(place: Place, node: ast.AST, mended: tuple[str, ...]) -> bool:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return _reads_tensor(place, test)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _READS and name not in mended
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in _CONVERSIONS:
            return name not in mended and _reads_tensor(place, argument)
        case ast.Call(func=ast.Name(id="print")):
            return "print" not in mended
    return False


def _reads_tensor(place: Place, node: ast.expr) -> bool:
    """Whether an expression depends on a tensor's values."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return False
    return any(
        isinstance(each, ast.Name)
        and place.types.is_tensor_somewhere(each.id)
        and getattr(place.index.parents.get(each), "attr", None) not in _KNOWN
        for each in ast.walk(node)
    )
