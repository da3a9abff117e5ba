"""Find the names that code reads: at a line, in conditions and loops of its function, and of elements of loops."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache

from dynascope.facts.comparison.plain_code import (
    Entering,
    Loop,
    branches_of,
    condition_of,
    function_at,
    names_in,
    statements_of,
    way_to,
)


@lru_cache(1024)
def names_read(path: str, line: int) -> list[str]:
    """Return the names that are read at a line, and where its function may part ranks."""
    function = function_at(path, [line])
    if function is None:
        return []
    conditions = [name for node in branches_of(function) for name in names_in(condition_of(node))]
    way = [step.node for step in way_to(function, line)]
    around = [name for node in way for name in bound_at(node)]
    statements = statements_of(function)
    blocks = (block for node in statements for block in _noting(node))
    noted = [name for block in blocks for name in noted_by(block)]
    loops = (node for node in statements if isinstance(node, Loop))
    settings = [name for loop in loops for node in statements_of(loop) for name in settings_in(node)]
    return [*dict.fromkeys([*conditions, *around, *noted, *read_at(way), *settings])]


@lru_cache(1024)
def elements_read(path: str, line: int) -> tuple[str, ...]:
    """Return the target names of `for` loops around a line that reads one, or a part of it."""
    function = function_at(path, [line])
    way = way_to(function, line) if function is not None else []
    loops = [step.node for step in way if step.is_true and isinstance(step.node, ast.For)]
    names = [name for loop in loops for name in bound_at(loop)]
    if not names or hasattr(way[-1].node, "body"):
        return ()
    parts = {*names}
    for node in statements_of(loops[0]):
        if isinstance(node, ast.Assign) and node.lineno < line and _is_part(node.value, parts):
            parts |= {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    read = {each.id for each in ast.walk(way[-1].node) if isinstance(each, ast.Name)}
    return () if read.isdisjoint(parts) else tuple(names)


def _is_part(node: ast.expr, names: Container[str]) -> bool:
    """Whether an expression is one of some names, or a part of one.

    It is an attribute, an element or the result of a method. What a function makes of it is none: `evaluated(batch)`.
    """
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=value) | ast.Call(func=ast.Attribute(value=value)):
            return _is_part(value, names)
        case ast.Subscript(value=value, slice=index):
            return _is_part(value, names) or _is_part(index, names)
        case ast.BinOp(left=left, right=right):
            return _is_part(left, names) or _is_part(right, names)
    return False


def settings_in(node: ast.stmt) -> Iterator[str]:
    """Yield the attributes and elements that a statement reads to compute or to decide."""
    read: list[ast.AST] = []
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        read = [node.value]
    elif isinstance(node, ast.If | ast.While):
        read = [node.test]
    elif isinstance(node, Entering):
        read = [item.context_expr for item in node.items]
    yield from (name for each in read for name in names_in(each) if "." in name or "[" in name)


def _noting(node: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Try):
        return [handler.body for handler in node.handlers]
    return [node.body] if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Continue) else []


def noted_by(block: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the variables that a block of statements counts, and the lists to which it appends."""
    for each in block:
        match each:
            case ast.AugAssign(target=target):
                yield ast.unparse(target)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=kept, attr="append"))):
                yield ast.unparse(kept)


def bound_at(node: ast.AST) -> Iterator[str]:
    """Yield the target names of a `for` loop, or the names that a `with` statement reads."""
    if isinstance(node, ast.For):
        yield from (each.id for each in ast.walk(node.target) if isinstance(each, ast.Name))
    elif isinstance(node, Entering):
        for item in node.items:
            yield from names_in(item.context_expr)


def read_at(way: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the names that the last statement of a way reads, if it is a simple one."""
    if way and not hasattr(way[-1], "body"):
        yield from names_in(way[-1])
