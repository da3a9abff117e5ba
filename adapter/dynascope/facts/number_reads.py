"""Read from a program's source whether Python needs a number of a tensor: for a condition, a key or a text."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from typing import Literal

from dynascope.facts.number_use import block_at, is_number

_MODULES = frozenset(["base64", "hashlib", "json", "marshal", "pickle", "struct", "zlib"])
_FUNCTIONS = frozenset(["dict", "frozenset", "hash", "repr", "set", "str"])


def read_by_python(lines: Sequence[str], line: int) -> Literal["", "decides", "passed"]:
    """Return what a number is for that a line takes of a tensor.

    `decides`: a condition reads it, or what is computed with it, as in `k = x.item() > 1`; `passed`: a function of
    Python takes it, as `pickle.dumps(x.tolist())`, or it is a key.
    """
    text = textwrap.dedent("".join(block_at(lines, line)))
    try:
        statements = ast.parse(text.replace("\\\n", " ").replace("\\", "/")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if not statements:
        return ""
    taken = [node for node in ast.walk(statements[0]) if is_number(node)]
    if any(_is_passed(node, taken) for node in ast.walk(statements[0])):
        return "passed"
    return "decides" if taken and _decides(statements) else ""


def _is_passed(node: ast.AST, taken: Sequence[ast.AST]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module)), args=args):
            return module in _MODULES and _have(args, taken)
        case ast.Call(func=ast.Name(id=name), args=args):
            return name in _FUNCTIONS and _have(args, taken)
        case ast.DictComp(key=key):
            return _have([key], taken)
        case ast.Dict(keys=keys):
            return _have([each for each in keys if each is not None], taken)
    return False


def _have(nodes: Sequence[ast.AST], taken: Sequence[ast.AST]) -> bool:
    return any(each in taken for node in nodes for each in ast.walk(node))


def _decides(statements: Sequence[ast.stmt]) -> bool:
    """Whether a condition after the first statement, or in it, reads what the statement assigns."""
    match statements[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            is_single = sum(map(is_number, ast.walk(value))) == 1
        case _:
            return False
    tests = (_test(node) for each in statements[1:] for node in ast.walk(each))
    return is_single and any(
        isinstance(each, ast.Name) and each.id == name for test in tests if test is not None for each in ast.walk(test)
    )


def _test(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            return test
    return None
