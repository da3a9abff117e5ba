"""Infer the type of a tensor expression from the types of its names.

Only operations that are known to have no side effects have a type: fixes leave all others alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from dynascope_lsp.documents.syntax import Index
from dynascope_lsp.fixes.expressions.names import full_name
from dynascope_lsp.fixes.expressions.tensor_type import TensorType

Number = type[int] | type[float]
Kind = TensorType | Number | None
Environment = Callable[[str], TensorType | None]

SMOOTH = frozenset(
    ("relu", "tanh", "sigmoid", "sin", "cos", "neg", "square", "clone", "erf", "atan", "silu", "gelu", "softplus")
)
"""Operations on floats that keep the sizes, with a finite gradient wherever the argument is finite."""
ELEMENTWISE = SMOOTH | frozenset(
    (
        "abs",
        "exp",
        "log",
        "log2",
        "log10",
        "log1p",
        "expm1",
        "sqrt",
        "rsqrt",
        "reciprocal",
        "floor",
        "ceil",
        "round",
        "sign",
        "trunc",
        "nan_to_num",
        "clamp",
        "clip",
    )
)
TESTS = frozenset(("isnan", "isinf", "isfinite"))
REDUCTIONS = frozenset(("sum", "mean", "max", "min", "amax", "amin", "norm", "std", "var", "median", "prod"))
TRUTHS = frozenset(("any", "all"))
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_COMPARISONS = (ast.Gt, ast.Lt, ast.GtE, ast.LtE, ast.Eq, ast.NotEq)


class Inference:
    """Infer types of expressions of one file; `environment` returns the types of local names."""

    def __init__(self, index: Index, environment: Environment) -> None:
        self._index = index
        self._environment = environment

    def tensor(self, node: ast.expr) -> TensorType | None:
        found = self.kind(node)
        return found if isinstance(found, TensorType) else None

    def kind(self, node: ast.expr) -> Kind:
        """Return a tensor's type, `int` or `float` for a number written in the code, or None."""
        match node:
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int() | float() as value):
                return type(value)
            case ast.Name():
                return self._environment(node.id)
            case ast.UnaryOp(op=ast.USub()):
                return self.kind(node.operand)
            case ast.UnaryOp(op=ast.Invert()):
                found = self.tensor(node.operand)
                return found if found is not None and found.dtype == "b8" else None
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
                left, right = self.tensor(node.left), self.tensor(node.right)
                both = left is not None and right is not None and left.dtype == right.dtype == "b8"
                return _joined(left, right, "b8") if both else None
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Compare(ops=[op], comparators=[right]) if isinstance(op, _COMPARISONS):
                return _joined(self.kind(node.left), self.kind(right), "b8")
            case ast.Call():
                return self._call(node)
        return None

    def _arithmetic(self, node: ast.BinOp) -> Kind:
        left, right = self.kind(node.left), self.kind(node.right)
        if not isinstance(node.op, _ARITHMETIC) or left is None or right is None:
            return None
        tensors = [each for each in (left, right) if isinstance(each, TensorType)]
        if not tensors:
            return float if isinstance(node.op, ast.Div) or float in (left, right) else int
        if any(not each.is_float for each in tensors):
            whole = all(each is int or (isinstance(each, TensorType) and each.dtype == "i64") for each in (left, right))
            return _joined(left, right, "i64") if whole and not isinstance(node.op, ast.Div) else None
        return _joined(left, right, tensors[0].dtype) if len({each.dtype for each in tensors}) == 1 else None

    def _call(self, node: ast.Call) -> TensorType | None:  # noqa: C901 - one rule a line
        """Return the type of `x.name(…)` or `torch.name(x, …)`, or None."""
        method = called_operation(self._index, node)
        if method is None:
            return None
        name, tensor, arguments = method
        found = self.tensor(tensor)
        if found is None or not all(isinstance(each, ast.Constant) for each in arguments):
            return None
        if name in TRUTHS and not arguments and not node.keywords:
            return TensorType("b8", (), found.device)
        if node.keywords and name not in ("clamp", "clip"):
            return None
        if not all(isinstance(each.value, ast.Constant) for each in node.keywords):
            return None
        if name in TESTS and not arguments:
            return TensorType("b8", found.sizes, found.device)
        if name == "clone" and not arguments:
            return found
        if name in ("zeros_like", "ones_like") and not arguments and isinstance(node.func, ast.Attribute):
            return found
        if name in ("abs", "sum", "max", "min") and found.dtype == "i64" and not arguments:
            return found if name == "abs" else TensorType("i64", (), found.device)
        if not found.is_float:
            return None
        if name in ("softmax", "log_softmax") and len(arguments) == 1:
            return found
        if name in REDUCTIONS:
            return _reduced(found, name, arguments)
        return found if name in ELEMENTWISE and (not arguments or name in ("clamp", "clip")) else None


def called_operation(index: Index, node: ast.Call) -> tuple[str, ast.expr, list[ast.expr]] | None:
    """Return a tensor operation's name, tensor and other positional arguments, or None."""
    if not isinstance(node.func, ast.Attribute):
        return None
    name = full_name(index, node.func)
    if name is not None:
        module, _, function = name.rpartition(".")
        known = module in ("torch", "torch.nn.functional") and node.args
        return (function, node.args[0], node.args[1:]) if known else None
    return node.func.attr, node.func.value, node.args


def _reduced(found: TensorType, name: str, arguments: list[ast.expr]) -> TensorType | None:
    if not arguments:
        return TensorType(found.dtype, (), found.device)
    match arguments:
        case [ast.Constant(value=int() as dimension)] if name in ("sum", "mean", "amax", "amin"):
            if -len(found.sizes) <= dimension < len(found.sizes) and not isinstance(dimension, bool):
                sizes = list(found.sizes)
                del sizes[dimension]
                return TensorType(found.dtype, tuple(sizes), found.device)
    return None


def _joined(left: Kind, right: Kind, dtype: str) -> TensorType | None:
    """Return the type of two operands broadcast, or None if sizes or devices do not match."""
    tensors = [each for each in (left, right) if isinstance(each, TensorType)]
    if left is None or right is None or not tensors or len({each.device for each in tensors}) > 1:
        return None
    sizes: list[int] = []
    longest = max(len(each.sizes) for each in tensors)
    for column in zip(*((1,) * (longest - len(each.sizes)) + each.sizes for each in tensors), strict=True):
        wide = {size for size in column if size != 1}
        if len(wide) > 1:
            return None
        sizes.append(wide.pop() if wide else 1)
    return TensorType(dtype, tuple(sizes), tensors[0].device)
