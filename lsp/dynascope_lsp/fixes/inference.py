"""Infer the type of a tensor expression from the recorded types of its names, after full names: `F.relu` is torch's.

Only operations that are known to have no side effects have a type: fixes leave all others alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from dynascope_lsp.documents.syntax import Function, Index, dotted, words
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.recorded.snapshot import Snapshot

FLOATS = ("f32", "f64")
_WRITTEN = re.compile(r"(?P<dtype>[a-z]+\d+)\[(?P<sizes>[\d, ]*)\](?: (?P<device>[a-z]+(?::\d+)?))?$")


class TensorType(Struct, frozen=True):
    """A tensor's type. Sizes are numbers; if they are symbols, an earlier compile has numbers."""

    dtype: str
    sizes: tuple[int, ...]
    device: str = "cpu"

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


def read_type(value: str) -> TensorType | None:
    """Parse a type such as `f32[8, 16] cuda:0`; None with a symbolic size or no plain tensor."""
    found = _WRITTEN.fullmatch(value)
    if found is None:
        return None
    sizes = tuple(int(each) for each in found["sizes"].split(",") if each.strip())
    return TensorType(found["dtype"], sizes, found["device"] or "cpu")


class Types:
    """The types of one function's names in the recorded launch."""

    def __init__(self, snapshot: Snapshot, function: Function) -> None:
        assert snapshot.facts is not None and snapshot.placement is not None
        self._index = snapshot.text.index
        self._function = function
        self._varying: set[str] = set()
        self._recorded: dict[tuple[int, str], set[TensorType | None]] = {}
        for line, each in snapshot.placement.tensors(function.first_line, function.last_line):
            found = read_type(each.fact.value)
            if found is None and "[" in each.fact.value:
                self._varying.add(each.fact.name)
            if found is not None or "[" not in each.fact.value:
                self._recorded.setdefault((line, each.fact.name), set()).add(found)
        self._traced = {snapshot.placement.line(line) for line in snapshot.facts.seconds_by_line}

    def at(self, line: int, name: str) -> TensorType | None:
        """Return the type assigned on a line; None if it was no tensor or had several types."""
        found = self._recorded.get((line, name), set())
        return next(iter(found)) if len(found) == 1 else None

    def is_tensor_somewhere(self, name: str) -> bool:
        return name in self._varying or any(each == name for _, each in self._recorded)

    def varies(self, name: str) -> bool:
        """Whether a name was a tensor with sizes that are symbols, too."""
        return name in self._varying

    def before(self, name: str, statement: ast.stmt) -> TensorType | None:
        """Return a name's type when a statement began; None if it was not one in the whole launch."""
        found: set[TensorType | None] = set()
        for line in self._assignments_before(name, statement):
            recorded = self._recorded.get((line, name))
            if recorded is not None:
                found |= recorded
            elif line in self._traced:
                return None  # no tensor
        return next(iter(found)) if len(found) == 1 else None

    def _assignments_before(self, name: str, statement: ast.stmt) -> Iterator[int]:
        """Yield the lines that may have assigned a name's value; the function's for a parameter."""
        node: ast.AST = statement
        while node is not self._function.node:
            parent = self._index.parents[node]
            for block in _blocks(parent):
                if node not in block:
                    continue
                for earlier in reversed(block[: block.index(node)]):
                    lines = list(_stores(earlier, name))
                    yield from lines
                    if lines and not _blocks(earlier):
                        return
            if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
                yield from _stores(parent, name)
            node = parent
        if any(each.arg == name for each in self._function.parameters):
            yield self._function.first_line


def _blocks(node: ast.AST) -> list[list[ast.AST]]:
    """Return the lists of statements in a statement."""
    handlers = [each.body for each in getattr(node, "handlers", ())]
    cases = [each.body for each in getattr(node, "cases", ())]
    return [*(block for name in ("body", "orelse", "finalbody") if (block := _list(node, name))), *handlers, *cases]


def _list(node: ast.AST, name: str) -> list[ast.AST]:
    value = getattr(node, name, None)
    return value if isinstance(value, list) else []


def _stores(node: ast.AST, name: str) -> Iterator[int]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load):
            yield each.lineno


Number = type[int] | type[float]
Kind = TensorType | Number | None
Environment = Callable[[str], TensorType | None]

SMOOTH = words("relu tanh sigmoid sin cos neg square clone erf atan silu gelu softplus")
"""Operations on floats that keep the sizes, with a finite gradient wherever the argument is finite."""
ELEMENTWISE = SMOOTH | words(
    """
    abs exp log log2 log10 log1p expm1 sqrt rsqrt reciprocal floor ceil round sign trunc nan_to_num clamp clip
    """
)
TESTS = words("isnan isinf isfinite")
REDUCTIONS = words("sum mean max min amax amin norm std var median prod")
TRUTHS = words("any all")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_COMPARISONS = (ast.Gt, ast.Lt, ast.GtE, ast.LtE, ast.Eq, ast.NotEq)


def full_name(index: Index, node: ast.AST) -> str | None:
    """Return the full name of an imported name or an attribute chain on one, or else None."""
    name = dotted(node)
    if name is None:
        return None
    first, _, rest = name.partition(".")
    found = None
    for statement in index.imports:
        for alias in statement.names:
            if (alias.asname or alias.name.partition(".")[0]) != first:
                continue
            if isinstance(statement, ast.ImportFrom):
                found = f"{statement.module}.{alias.name}" if statement.module and not statement.level else None
            else:
                found = alias.name if alias.asname else first
    return found and (f"{found}.{rest}" if rest else found)


def torch_name(index: Index) -> str:
    """Return the file's name for torch. Raises Refused without a top-level `import torch`."""
    for each in index.tree.body:
        for alias in each.names if isinstance(each, ast.Import) else ():
            name = alias.asname or alias.name.partition(".")[0]
            if full_name(index, ast.Name(name)) == "torch":
                return name
    raise Refused("`torch` is not imported here by `import torch`.")


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
