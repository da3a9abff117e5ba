"""Compute sizes and numbers in texts of values, whose symbols have been replaced by what they are in a call."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from dynascope.facts.operators import ARITHMETIC

_LONGEST = 400
"""The most characters of a text that is computed."""
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "CeilToInt": math.ceil,
    "FloorToInt": math.floor,
    "TruncToInt": int,
    "RoundToInt": round,
    "ToFloat": float,
    "FloatTrueDiv": operator.truediv,
    "IntTrueDiv": operator.truediv,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "CeilDiv": lambda one, other: -(-one // other),
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Max": max,
    "Min": min,
}
"""Functions that torch puts into the expressions of sizes (`torch.utils._sympy.functions`, 2.1)."""


def computed(text: str) -> str:
    """Return a text with numbers for what can be computed in it: `f32[8]` for `f32[(16//2)]`."""
    if len(text) > _LONGEST or not any(each in text for each in "(*/+-%"):
        return text
    try:
        tree = ast.parse(text, mode="eval")
        computing = _Computing()
        told = ast.unparse(computing.visit(tree))
    except (ArithmeticError, SyntaxError, TypeError, ValueError):
        return text
    return told if computing.has_computed else text


class _Computing(ast.NodeTransformer):
    """Replace operations on numbers by their results."""

    has_computed = False

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._result(ARITHMETIC.get(type(node.op)), [node.left, node.right], node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = _FUNCTIONS.get(node.func.id) if isinstance(node.func, ast.Name) else None
        return self._result(function, node.args, node)

    def _result(self, function: Callable[..., Any] | None, operands: list[ast.expr], node: ast.expr) -> ast.expr:
        values = [each.value for each in operands if isinstance(each, ast.Constant)]
        are_numbers = len(values) == len(operands) and all(type(each) in (int, float) for each in values)
        if function is None or not are_numbers:
            return node
        self.has_computed = True
        return ast.Constant(function(*values))
