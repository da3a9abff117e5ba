"""Find side effects of expressions and functions: in-place operations and unknown calls."""

from __future__ import annotations

import ast

from dynascope_lsp.documents.syntax import Function, Index, dotted
from dynascope_lsp.fixes.expressions.inference import ELEMENTWISE, REDUCTIONS, TESTS, TRUTHS, called_operation
from dynascope_lsp.fixes.expressions.names import full_name
from dynascope_lsp.fixes.expressions.tensor_type import Types

PURE_LAYERS = frozenset(
    (
        "Linear",
        "LayerNorm",
        "RMSNorm",
        "GroupNorm",
        "Conv1d",
        "Conv2d",
        "ReLU",
        "GELU",
        "SiLU",
        "Tanh",
        "Sigmoid",
    )
)
"""Layers of torch.nn whose results are new, depend on weights and arguments alone, and that change nothing."""
OPERATIONS = ELEMENTWISE | REDUCTIONS | TESTS | TRUTHS | {"softmax", "log_softmax", "matmul", "zeros_like", "ones_like"}
_SAFE_METHODS = ("requires_grad_", "manual_seed_")


def mutates(node: ast.AST, types: Types | None = None) -> bool:
    """Whether some code may write into a tensor: `add_`, `x[…] = …`, `x += …`, `out=`.

    Without `types` (for code that was not traced), `x += value` counts for any name, unless the value is a number.
    """
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr=name)) if name.endswith("_") and not name.endswith("__"):
                if name not in _SAFE_METHODS:
                    return True
            case ast.Call(keywords=keywords) if any(k.arg in ("out", "inplace") for k in keywords):
                return True
            case ast.Subscript(ctx=ast.Store()):
                return True
            case ast.AugAssign(target=ast.Name(id=name)):
                if types is not None and types.is_tensor_somewhere(name):
                    return True
                if types is None and not is_number(each.value):
                    return True
            case ast.AugAssign(target=ast.Subscript()):
                return True
    return False


def is_number(node: ast.expr) -> bool:
    """Whether an expression is plainly no tensor: a literal, `len(xs)`, `loss.item() * 2`."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in ("float", "int", "len", "item", "numel", "size")
    return False


def is_pure(index: Index, function: Function, node: ast.expr) -> bool:
    """Whether every call in an expression is an operation or layer without side effects."""
    for each in ast.walk(node):
        if isinstance(each, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Lambda | ast.comprehension):
            return False
        if isinstance(each, ast.Call) and not _is_pure_call(index, function, each):
            return False
    return True


def _is_pure_call(index: Index, function: Function, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id == "len"
    if dotted(call.func) and str(dotted(call.func)).startswith("self."):
        return _layer(index, function, call.func) in PURE_LAYERS | {"Identity"}
    operation = called_operation(index, call)
    return operation is not None and operation[0] in OPERATIONS


def is_pure_layer(index: Index, function: Function, call: ast.Call) -> bool:
    """Whether a call is of a layer of the module whose result is new."""
    return str(dotted(call.func)).startswith("self.") and _layer(index, function, call.func) in PURE_LAYERS


def _layer(index: Index, function: Function, node: ast.expr) -> str | None:
    """Return the torch.nn class of `self.name`, assigned once: `self.name = nn.Linear(…)`."""
    name = dotted(node)
    owner = index.parents.get(function.node)
    made = [
        each.value
        for each in ast.walk(owner if isinstance(owner, ast.ClassDef) else index.tree)
        if isinstance(each, ast.Assign) and any(dotted(target) == name for target in each.targets)
    ]
    if len(made) != 1 or not isinstance(made[0], ast.Call):
        return None
    called = full_name(index, made[0].func) or ""
    inplace = any(k.arg == "inplace" for k in made[0].keywords)
    return called.removeprefix("torch.nn.") if called.startswith("torch.nn.") and not inplace else None
