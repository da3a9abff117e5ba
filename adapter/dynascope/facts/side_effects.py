"""Read from a program's source whether a branch does more than to compute: an operator such as `torch.cond` cannot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from dynascope.facts.number_use import indentation_of

_CHANGES_OBJECT = re.compile(r"\s*[A-Za-z_]\w*(?:\.\w+)+(?:\[[^\]]*\])?\s*(?:[-+*/|&]|//|\*\*)?=(?!=)")
_CLAUSE = re.compile(r"\s*(?:except|else|finally)\b")


def acts(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements print, call for an effect, or change objects or globals.

    A method that works in place ends with `_`.
    """
    return any(_acts(node) for each in statements for node in ast.walk(each))


def _acts(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return not name.endswith("_")
        case ast.Expr(value=ast.Call()) | ast.Global() | ast.Nonlocal():
            return True
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return isinstance(target, ast.Attribute) or _is_key(target)
    return False


def _is_key(target: ast.expr) -> bool:
    match target:
        case ast.Subscript(slice=ast.Constant(value=str())):
            return True
    return False


def acts_in_try(lines: Sequence[str], first: int) -> bool:
    """Whether a `try` that begins on a line, or a handler of it, changes an object."""
    return any(_CHANGES_OBJECT.match(each) for each in _of_try(lines, first))


def _of_try(lines: Sequence[str], first: int) -> Iterator[str]:
    own = indentation_of(lines[first - 1])
    for each in lines[first:]:
        if each.strip() and indentation_of(each) <= own and not (indentation_of(each) == own and _CLAUSE.match(each)):
            return
        yield each
