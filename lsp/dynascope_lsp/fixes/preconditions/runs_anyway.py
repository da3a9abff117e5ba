"""Check that both sides of a branch can be traced whenever it is reached: torch.cond and torch.where run both.

In plain Python a side runs only if it is chosen, and may rely on that: `1 / n` where n is not zero, `x + bias` where
there is a bias.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from dynascope_lsp.fixes.expressions.copies import is_new, is_new_value
from dynascope_lsp.fixes.expressions.names import full_name
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.place import Place

Kind = Literal["tensor", "number"] | None
"""The kind of value that an expression always has; None if it is not known, or if evaluating may fail."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_ORDER = (ast.Gt, ast.Lt, ast.GtE, ast.LtE)
_LATER = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions whose parts need not run, or not at once, when their statement does."""
_WHAT_TO_DO = "compute both sides from tensors alone, which are there in every call."


def check_runs_anyway(place: Place, test: ast.expr, sides: tuple[ast.expr, ast.expr]) -> None:
    """Raise Refused unless neither side can fail where the other is chosen."""
    evaluated = {name for each in (test, *_neighbours(place)) for name in _operands(place, each)}
    evaluated |= set(_operands(place, sides[0])) & set(_operands(place, sides[1]))
    numbers = set(_numbers(place, test))
    read: dict[str, bool] = {}
    for side in sides:
        if _kind(place, side, numbers) != "tensor":
            raise Refused(
                f"`{ast.unparse(side)}` may fail when the other side is chosen, but both are traced: {_WHAT_TO_DO}"
            )
        for each in (each.id for each in ast.walk(side) if isinstance(each, ast.Name)):
            found = place.types.before(each, place.statement)
            if found is not None and not (each in evaluated or is_new(place.index, place.function, each)):
                raise Refused(f"`{each}` may be no tensor when the other side is chosen: {_WHAT_TO_DO}")
            if found is not None and found.sizes:
                read[each] = place.types.varies(each)
    if len(read) > 1 and any(read.values()):
        raise Refused(f"The sides read tensors whose sizes change, and which may not fit together: {_WHAT_TO_DO}")


def _kind(place: Place, node: ast.expr, numbers: set[str]) -> Kind:
    match node:
        case ast.Constant(value=int() | float()):
            return "number"
        case ast.Name(id=name) if place.types.before(name, place.statement) is not None:
            return "tensor"
        case ast.Name(id=name):
            return "number" if name in numbers else None
        case ast.UnaryOp(op=ast.USub() | ast.Invert()):
            return _kind(place, node.operand, numbers)
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return _joined(node, {_kind(place, left, numbers), _kind(place, right, numbers)})
        case ast.Call(func=function) if is_new_value(place.index, place.function, node):
            read = [*node.args, *(each.value for each in node.keywords)]
            if isinstance(function, ast.Attribute) and full_name(place.index, function) is None:
                read.append(function.value)
            return "tensor" if all(_kind(place, each, numbers) for each in read) else None
    return None


def _joined(node: ast.BinOp | ast.Compare, kinds: set[Kind]) -> Kind:
    """Return the kind of an operation with two operands of these kinds."""
    if None in kinds or "tensor" in kinds:
        return None if None in kinds else "tensor"
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            return "number"
        case ast.BinOp(op=ast.Div(), right=ast.Constant(value=int() | float() as value)) if value:
            return "number"
    return None


def _numbers(place: Place, test: ast.expr) -> Iterator[str]:
    """Yield the names that the test compares with a tensor, so numbers: `norm > limit`."""
    inference = place.inference_before(place.statement)
    match test:
        case ast.Compare(ops=[operator], left=left, comparators=[right]) if isinstance(operator, _ORDER):
            for one, other in ((left, right), (right, left)):
                if (
                    isinstance(one, ast.Name)
                    and inference.tensor(other)
                    and not place.types.is_tensor_somewhere(one.id)
                ):
                    yield one.id


def _operands(place: Place, root: ast.AST) -> Iterator[str]:
    """Yield the names in an expression that fail at once if they are no tensors, nor numbers."""
    for child in ast.iter_child_nodes(root):
        if isinstance(child, _LATER):
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            match root:
                case ast.BinOp() | ast.UnaryOp(op=ast.USub()) | ast.Attribute():
                    yield child.id
                case ast.Compare(ops=[operator]) if isinstance(operator, _ORDER):
                    yield child.id
                case ast.Call() if child is not root.func and is_new_value(place.index, place.function, root):
                    yield child.id
        yield from _operands(place, child)


def _neighbours(place: Place) -> Iterator[ast.stmt]:
    """Yield statements before and straight after the branch, which run when it does."""
    node: ast.AST = place.statement
    while node is not place.function.node:
        parent = place.index.parents[node]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if not isinstance(block, list) or node not in block:
                continue
            at = block.index(node)
            yield from (each for each in block[:at] if isinstance(each, _SIMPLE))
            for each in block[at + 1 :]:
                if not isinstance(each, _SIMPLE):
                    break
                yield each
        node = parent
