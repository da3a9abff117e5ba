"""Check that both sides of a branch can be traced in its place: torch.cond and torch.where run and differentiate both.

In plain Python a side runs only if it is chosen, and may rely on that: `1 / n` where n is not zero, `x + bias` where
there is a bias.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal

from dynascope_lsp.documents.syntax import dotted, words
from dynascope_lsp.fixes.effects import is_new, is_new_value
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.inference import ELEMENTWISE, TensorType, called_operation, full_name
from dynascope_lsp.fixes.place import TracedStatement
from dynascope_lsp.recorded.program_files import program_files

Kind = Literal["tensor", "number"] | None
"""The kind of value that an expression always has; None if it is not known, or if evaluating may fail."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_ORDER = (ast.Gt, ast.Lt, ast.GtE, ast.LtE)
_LATER = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions whose parts need not run, or not at once, when their statement does."""
_WHAT_TO_DO = "compute both sides from tensors alone, which are there in every call."

_GRADIENTS = frozenset(("backward", "grad", "requires_grad", "requires_grad_", "value_and_grad", "vjp", "jacrev"))
_WITHOUT_GRADIENT = ("zeros_like", "ones_like", "detach", "sign", "round", "floor", "ceil")
_LAYOUTS = words(
    """
    t T mT H mH adjoint transpose permute movedim moveaxis swapaxes swapdims expand expand_as broadcast_to
    channels_last as_strided unfold einsum linalg
    """
)
"""Operations that return tensors which are not contiguous."""
_FLOAT_CHANGED = re.compile(r"== -?(\d+\.\d*|\d*\.?\d+e-?\d+)")


def check_runs_anyway(place: TracedStatement, test: ast.expr, sides: tuple[ast.expr, ast.expr]) -> None:
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


def _kind(place: TracedStatement, node: ast.expr, numbers: set[str]) -> Kind:
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


def _numbers(place: TracedStatement, test: ast.expr) -> Iterator[str]:
    """Yield the names that the test compares with a tensor, so numbers: `norm > limit`."""
    inference = place.inference_before(place.statement)
    match test:
        case ast.Compare(ops=[operator], left=left, comparators=[right]) if isinstance(operator, _ORDER):
            for one, other in ((left, right), (right, left)):
                named = one.id if isinstance(one, ast.Name) else None
                if named and inference.tensor(other) and not place.types.is_tensor_somewhere(named):
                    yield named


def _operands(place: TracedStatement, root: ast.AST) -> Iterator[str]:
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


def _neighbours(place: TracedStatement) -> Iterator[ast.stmt]:
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


def check_sides(place: TracedStatement, sides: tuple[ast.expr, ast.expr], found: TensorType) -> None:
    """Raise Refused for other gradients or layouts, or for floats that change."""
    reads = [_roots(place, each) for each in sides]
    if reads[0] != reads[1] and _mentions(place, _GRADIENTS):
        raise Refused(
            "The sides read different tensors: those that only the other side reads would get gradients of zero, "
            "where they get none, which an optimizer with momentum or weight decay sees. Compute both sides yourself "
            "if that is what you want."
        )
    layouts = [set(_layouts(place, each, found)) for each in sides]
    if sum(size > 1 for size in found.sizes) > 1 and layouts[0] != layouts[1] and _mentions(place, _LAYOUTS):
        raise Refused("The two sides may lie differently in memory, which torch.cond refuses: call `.contiguous()`.")
    if any(_reads_numbers(place, each) for each in sides) and _floats_changed(place):
        raise Refused("A float that changes between calls is read here, which torch.cond refuses: pass a tensor.")


def _roots(place: TracedStatement, node: ast.expr) -> set[str]:
    """Return the parameters, attributes and globals that an expression is computed from."""
    names, seen, roots = list(_tensors(place, node)), set[str](), set[str]()
    parameters = {each.arg for each in place.function.parameters}
    assigned = [each for each in ast.walk(place.function.node) if isinstance(each, ast.Assign)]
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        values = [each.value for each in assigned if name in map(dotted, each.targets)]
        if not values or name in parameters:
            roots.add(name)
        names += [inner for value in values for inner in _tensors(place, value)]
    return roots


def _tensors(place: TracedStatement, node: ast.expr) -> Iterator[str]:
    """Yield the names and attributes in an expression through which gradients may flow."""
    if isinstance(node, ast.Call) and (called_operation(place.index, node) or ("",))[0] in _WITHOUT_GRADIENT:
        return
    name = dotted(node)
    if name is None:
        for child in ast.iter_child_nodes(node):
            yield from _tensors(place, child) if isinstance(child, ast.expr) else ()
    elif full_name(place.index, node) is None and not _is_number(place, node):
        yield name


def _is_number(place: TracedStatement, node: ast.expr) -> bool:
    """Whether an expression is a name of the function that is not known to be a tensor."""
    if not isinstance(node, ast.Name) or place.types.before(node.id, place.statement) is not None:
        return False
    return any(
        (isinstance(each, ast.arg) and each.arg == node.id)
        or (isinstance(each, ast.Name) and each.id == node.id and isinstance(each.ctx, ast.Store))
        for each in ast.walk(place.function.node)
    )


def _layouts(place: TracedStatement, node: ast.expr, found: TensorType) -> Iterator[str]:
    """Yield the tensors whose layout a result may have; "" for a layout of its own."""
    operation = called_operation(place.index, node) if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and (operation is None or operation[0] not in ELEMENTWISE | set(_WITHOUT_GRADIENT)):
        yield ""
    elif isinstance(node, ast.Name | ast.Attribute) and dotted(node) is not None:
        known = place.types.before(node.id, place.statement) if isinstance(node, ast.Name) else None
        if not _is_number(place, node) and (known is None or len(known.sizes) == len(found.sizes)):
            yield str(dotted(node))
    else:
        for child in ast.iter_child_nodes(node):
            yield from _layouts(place, child, found) if isinstance(child, ast.expr) else ()


def _reads_numbers(place: TracedStatement, node: ast.expr) -> bool:
    """Whether an expression reads attributes, or names that are not known to be tensors."""
    return any(
        isinstance(each, ast.Attribute | ast.Name)
        and not isinstance(place.index.parents.get(each), ast.Attribute | ast.Call)
        and (isinstance(each, ast.Attribute) or place.types.before(each.id, place.statement) is None)
        for each in ast.walk(node)
    )


def _floats_changed(place: TracedStatement) -> bool:
    """Whether the function was compiled anew for a float, which Dynamo makes a symbol then."""
    facts, placement = place.snapshot.facts, place.snapshot.placement
    assert facts is not None and placement is not None
    mine = (each.fact for each in facts.distinct("recompiles") if placement.now(each.fact) == place.function.first_line)
    return any(_FLOAT_CHANGED.search(each.guard) for each in mine)


def _mentions(place: TracedStatement, names: frozenset[str]) -> bool:
    """Whether a file of the program has one of these names, or there are too many files."""
    files = program_files(place.snapshot)
    return files is None or any(
        names & {getattr(each, "attr", None), getattr(each, "id", None), getattr(each, "arg", None)}
        for snapshot in files
        for each in ast.walk(snapshot.text.index.tree)
    )
