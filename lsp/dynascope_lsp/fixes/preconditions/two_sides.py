"""Check what two sides of a branch share besides their type: torch.cond and torch.where differentiate both."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.fixes.expressions.inference import ELEMENTWISE, called_operation
from dynascope_lsp.fixes.expressions.names import full_name
from dynascope_lsp.fixes.expressions.tensor_type import TensorType
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.place import Place
from dynascope_lsp.recorded.program_files import program_files

_GRADIENTS = frozenset(("backward", "grad", "requires_grad", "requires_grad_", "value_and_grad", "vjp", "jacrev"))
_WITHOUT_GRADIENT = ("zeros_like", "ones_like", "detach", "sign", "round", "floor", "ceil")
_LAYOUTS = frozenset(
    (
        *("t", "T", "mT", "H", "mH", "adjoint", "transpose", "permute", "movedim", "moveaxis", "swapaxes", "swapdims"),
        *("expand", "expand_as", "broadcast_to", "channels_last", "as_strided", "unfold", "einsum", "linalg"),
    )
)
"""Operations that return tensors which are not contiguous."""
_FLOAT_CHANGED = re.compile(r"== -?(\d+\.\d*|\d*\.?\d+e-?\d+)")


def check_sides(place: Place, sides: tuple[ast.expr, ast.expr], found: TensorType) -> None:
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
    if any(_numbers(place, each) for each in sides) and _floats_changed(place):
        raise Refused("A float that changes between calls is read here, which torch.cond refuses: pass a tensor.")


def _roots(place: Place, node: ast.expr) -> set[str]:
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


def _tensors(place: Place, node: ast.expr) -> Iterator[str]:
    """Yield the names and attributes in an expression through which gradients may flow."""
    if isinstance(node, ast.Call) and (called_operation(place.index, node) or ("",))[0] in _WITHOUT_GRADIENT:
        return
    name = dotted(node)
    if name is None:
        for child in ast.iter_child_nodes(node):
            yield from _tensors(place, child) if isinstance(child, ast.expr) else ()
    elif full_name(place.index, node) is None and not _is_number(place, node):
        yield name


def _is_number(place: Place, node: ast.expr) -> bool:
    """Whether an expression is a name of the function that is not known to be a tensor."""
    if not isinstance(node, ast.Name) or place.types.before(node.id, place.statement) is not None:
        return False
    return any(
        each.arg == node.id if isinstance(each, ast.arg) else isinstance(each, ast.Name) and _stores(each, node.id)
        for each in ast.walk(place.function.node)
    )


def _stores(node: ast.Name, name: str) -> bool:
    return node.id == name and isinstance(node.ctx, ast.Store)


def _layouts(place: Place, node: ast.expr, found: TensorType) -> Iterator[str]:
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


def _numbers(place: Place, node: ast.expr) -> bool:
    """Whether an expression reads attributes, or names that are not known to be tensors."""
    return any(
        isinstance(each, ast.Attribute | ast.Name)
        and not isinstance(place.index.parents.get(each), ast.Attribute | ast.Call)
        and (isinstance(each, ast.Attribute) or place.types.before(each.id, place.statement) is None)
        for each in ast.walk(node)
    )


def _floats_changed(place: Place) -> bool:
    """Whether the function was compiled anew for a float, which Dynamo makes a symbol then."""
    facts, placement = place.snapshot.facts, place.snapshot.placement
    assert facts is not None and placement is not None
    mine = (each.fact for each in facts.recompiles if placement.now(each.fact) == place.function.first_line)
    return any(_FLOAT_CHANGED.search(each.guard) for each in mine)


def _mentions(place: Place, names: frozenset[str]) -> bool:
    """Whether a file of the program has one of these names, or there are too many files."""
    files = program_files(place.snapshot)
    return files is None or any(
        names & {getattr(each, "attr", None), getattr(each, "id", None), getattr(each, "arg", None)}
        for snapshot in files
        for each in ast.walk(snapshot.text.tree or ast.Module([], []))
    )
