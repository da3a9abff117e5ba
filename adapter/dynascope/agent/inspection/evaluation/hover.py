"""Check that an expression evaluated on hovering only reads."""

from __future__ import annotations

import ast
import types
from typing import Any

from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.symbolic_text import contents

_ACTS_OF_CTX = frozenset({"force_static", "graph_break", "sleep"})
_HARMLESS_MODULES = frozenset({"torch", "math", "operator"})
_HARMLESS_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "bytes",
        "complex",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "max",
        "min",
        "oct",
        "ord",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "vars",
        "zip",
    ]
)


def check_hover(expression: ast.expr, names: Names) -> None:
    """Raise EvaluationError for calls except of torch, pure builtins and methods of shadows."""
    for node in ast.walk(expression):
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            raise EvaluationError("Hovering only reads: evaluate this in the debug console.")
        if not isinstance(node, ast.Call):
            continue
        root = root_name(node.func)
        harmless = root is None or root in _HARMLESS_BUILTINS if isinstance(node.func, ast.Name) else True
        if root is not None and not isinstance(node.func, ast.Name):
            harmless = _is_harmless_owner(root, names)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _ACTS_OF_CTX:
            harmless = False
        if not harmless:
            raise EvaluationError(
                f"Hovering does not call {ast.unparse(node.func)}(): evaluate it in the debug console."
            )


def _is_harmless_owner(name: str, names: Names) -> bool:
    try:
        named = names.find(name)
    except KeyError:
        return True
    real = named.real if named.variable is None else _module_of(named.variable, names)
    return type(real) is not types.ModuleType or real.__name__.partition(".")[0] in _HARMLESS_MODULES


def _module_of(variable: object, names: Names) -> Any:
    content = contents(names.options(), variable)
    return getattr(content, "value", None)


def root_name(expression: ast.expr) -> str | None:
    """Return the name at the start of attributes, subscripts and calls; None if there is none."""
    while isinstance(expression, (ast.Attribute, ast.Subscript, ast.Call)):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else None
