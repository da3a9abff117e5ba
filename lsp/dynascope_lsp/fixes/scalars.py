"""Fix `.item()`: keep the tensor if it is only computed with, or let Dynamo trace the read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.documents.edits import replaced
from dynascope_lsp.fixes.checks import check_backward, check_only_compiled
from dynascope_lsp.fixes.effects import is_new, is_only_read, loads, may_write
from dynascope_lsp.fixes.fix import Fix, Refused, alternatives, setting, with_trial
from dynascope_lsp.fixes.inference import TensorType, called_operation
from dynascope_lsp.fixes.place import TracedStatement, check_loop, place_of
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

REGISTRY_ID = "GB0124"
_OPERATOR = "`aten._local_scalar_dense.default` has a non-Tensor output"
OPTION = "capture_scalar_outputs = True"
_CONVERSIONS = ("float", "int", "bool")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_KEPT_NUMBERS = ("append", "clamp", "clip", "full", "full_like")
"""Calls that Dynamo traces with a number that is unknown at compile time."""
WHAT_TO_DO = "keep the value a tensor as long as it is computed with, and read it outside of the compiled function."


def fixes(snapshot: Snapshot, finding: Finding) -> Iterator[Fix]:
    is_read = finding.registry_id == REGISTRY_ID or "item()" in finding.type
    if not is_read and _OPERATOR not in finding.explanation:
        return
    try:
        if not is_read:
            raise Refused(f"An operator reads a tensor here: {WHAT_TO_DO}")
        yield from _proven(snapshot, finding)
    except Refused as problem:
        raise with_trial(problem, snapshot, finding, OPTION) from None


def _proven(snapshot: Snapshot, finding: Finding) -> Iterator[Fix]:
    place = place_of(snapshot, finding)
    reads = [each for each in place.index.calls.get(finding.line, ()) if _read_tensor(each) is not None]
    if not reads or any(place.index.statement_of(each) is not place.statement for each in reads):
        raise Refused(f"Which tensor becomes a number here is not plain to see: {WHAT_TO_DO}")
    check_backward(place)
    yield from alternatives(lambda: _kept(place, reads), lambda: _captured(place, reads), told=-1)


def _read_tensor(call: ast.Call) -> ast.expr | None:
    """Return the tensor of `tensor.item()` or `float(tensor)`, or None."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "item" and not call.args:
        return call.func.value
    if isinstance(call.func, ast.Name) and call.func.id in _CONVERSIONS and len(call.args) == 1:
        inner = call.args[0]
        return None if isinstance(inner, ast.Call) and _read_tensor(inner) is not None else inner
    return None


def _kept(place: TracedStatement, reads: list[ast.Call]) -> Fix:
    """Remove the reads: a tensor without dimensions replaces each number in tensor arithmetic."""
    check_loop(place)
    check_only_compiled(place)
    edits, written = [], []
    for call in reads:
        tensor = _read_tensor(call)
        assert tensor is not None
        found = place.inference_before(place.statement).tensor(tensor)
        if found is None or found.sizes or not (found.is_float or found.dtype == "i64"):
            raise Refused(f"`{ast.unparse(tensor)}` is not known to be a tensor of one number: {WHAT_TO_DO}")
        if isinstance(call.func, ast.Name) and call.func.id != ("float" if found.is_float else "int"):
            raise Refused(f"`{call.func.id}()` changes the number: {WHAT_TO_DO}")
        for use, statement in _uses(place, call):
            _check_arithmetic(place, use, statement, found)
        new = ast.get_source_segment(place.text.source, tensor) or ast.unparse(tensor)
        if isinstance(tensor, ast.BinOp | ast.UnaryOp | ast.Compare):
            new = f"({new})"
        # a number has no gradient
        new += ".detach()" if found.is_float else ""
        if _may_change(place, tensor, call, found):
            new += ".clone()"  # a number stays as it was read
        edits.append(replaced(place.text, call, new))
        written.append(new)
    source = ", ".join(written)
    source = source if len(source) <= 40 else f"{source[:39]}…"
    return Fix(f"Keep it a tensor: {source}", edits, preferred=True)


def _may_change(place: TracedStatement, tensor: ast.expr, call: ast.Call, found: TensorType) -> bool:
    """Whether something may write into a tensor while its number is needed."""
    if isinstance(tensor, ast.Call | ast.BinOp):
        return False
    if found.is_float and not _is_only_read(place, tensor):
        return True  # the code that receives it may write into it before the backward pass
    return [call] != [use for use, _ in _uses(place, call)] and may_write(place.index, place.function, place.types)


def _is_only_read(place: TracedStatement, tensor: ast.expr) -> bool:
    """Whether the function has made a tensor, computes with it, and passes it to no other code."""
    return (
        isinstance(tensor, ast.Name)
        and is_new(place.index, place.function, tensor.id)
        and all(is_only_read(place.index, place.function, each) for each in loads(place.function, tensor.id))
    )


def _uses(place: TracedStatement, call: ast.Call) -> Iterator[tuple[ast.expr, ast.stmt]]:
    """Yield the uses of a number: the call itself, or every use of the name assigned to."""
    statement = place.statement
    if not (isinstance(statement, ast.Assign) and statement.value is call):
        yield call, statement
        return
    if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
        raise Refused(f"The number is stored, not computed with: {WHAT_TO_DO}")
    name = statement.targets[0].id
    all_of_it = [each for each in ast.walk(place.function.node) if isinstance(each, ast.Name) and each.id == name]
    declared = [each for each in ast.walk(place.function.node) if isinstance(each, ast.Global | ast.Nonlocal)]
    if sum(isinstance(each.ctx, ast.Store) for each in all_of_it) != 1 or any(name in each.names for each in declared):
        raise Refused(f"`{name}` is given other values, too: {WHAT_TO_DO}")
    for each in all_of_it:
        if isinstance(each.ctx, ast.Load):
            used_in = place.index.statement_of(each)
            if used_in is None or place.index.function_at(each.lineno) is not place.function:
                raise Refused(f"`{name}` is used in another function: {WHAT_TO_DO}")
            yield each, used_in


def _check_arithmetic(place: TracedStatement, use: ast.expr, statement: ast.stmt, found: TensorType) -> None:
    """Raise Refused unless the other operand is a tensor whose type the number keeps."""
    parent = place.index.parents[use]
    other = None
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, _ARITHMETIC):
        other = parent.right if parent.left is use else parent.left
    partner = place.inference_before(statement).tensor(other) if other is not None else None
    if partner is None or not (partner.is_float or (partner.dtype == "i64" and found.dtype == "i64")):
        raise Refused(f"The number is used for something else than arithmetic with tensors: {WHAT_TO_DO}")
    if found.is_float and found.dtype != partner.dtype:
        raise Refused(f"The tensor has another dtype than what it would be computed with: {WHAT_TO_DO}")
    divides = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div)
    if divides and (partner.device != "cpu" or not (found.is_float and partner.is_float)):
        raise Refused(f"Division by a number is rounded in another way than division by a tensor: {WHAT_TO_DO}")
    if found.device != partner.device:
        raise Refused(f"The tensors are on different devices: {WHAT_TO_DO}")


def _captured(place: TracedStatement, reads: list[ast.Call]) -> Fix:
    """Set the option if the number is only computed with, returned or stored, not tested."""
    check_loop(place, ("item", "float", "int"))
    function = place.function.node
    if function.name == "forward" and [each.arg for each in function.args.args][:1] == ["ctx"]:
        raise Refused(f"In the forward of an autograd function the option ends in an error: {WHAT_TO_DO}")
    for call in reads:
        if isinstance(call.func, ast.Name) and call.func.id == "bool":
            raise Refused(f"`bool()` asks for the value: {WHAT_TO_DO}")
        found = place.inference_before(place.statement).tensor(_read_tensor(call) or call)
        match place.statement:
            case ast.Assign(targets=[ast.Name()]):
                uses = [each for each, _ in _uses(place, call)]
            case _:
                uses = [call]
        for use in uses:
            _check_destination(place, use)
            is_operand = isinstance(place.index.parents[use], ast.BinOp | ast.UnaryOp)
            if is_operand and found is not None and found.dtype == "b8":
                raise Refused(f"Arithmetic asks for the value of a boolean: {WHAT_TO_DO}")
    return setting(place.text, OPTION)


def _check_destination(place: TracedStatement, use: ast.expr) -> None:
    node: ast.AST = use
    while True:
        parent = place.index.parents[node]
        match parent:
            case ast.BinOp(op=op) if isinstance(op, _ARITHMETIC):
                pass
            case ast.UnaryOp(op=ast.USub()) | ast.Tuple():
                pass
            case ast.Return():
                if place.is_inline:
                    raise Refused(f"The number is returned to compiled code: {WHAT_TO_DO}")
                return
            case ast.Call() if _is_kept(place, parent, node):
                return
            case ast.Assign(targets=[ast.Name(id=name)]):
                if place.types.at(parent.lineno, name) is None:  # a number is not followed further
                    raise Refused(f"`{name}` is a number, too: {WHAT_TO_DO}")
                return
            case ast.Assign(targets=[ast.Attribute(attr=name)]) | ast.AugAssign(target=ast.Attribute(attr=name)):
                _check_attribute(place, name)
                return
            case _:
                raise Refused(f"The number decides something, or leaves torch: {WHAT_TO_DO}")
        node = parent


def _check_attribute(place: TracedStatement, name: str) -> None:
    """Raise Refused if a function of the file reads the attribute that stores the number."""
    for each in ast.walk(place.index.tree):
        read = isinstance(each, ast.Attribute) and each.attr == name and isinstance(each.ctx, ast.Load)
        if read and place.index.function_at(getattr(each, "lineno", 0)) is not None:
            raise Refused(f"`{name}` is read by a function, where the number may decide something: {WHAT_TO_DO}")


def _is_kept(place: TracedStatement, call: ast.Call, node: ast.AST) -> bool:
    if node is call.func or (isinstance(call.func, ast.Attribute) and call.func.value is node):
        return False
    operation = called_operation(place.index, call)
    if operation is None or operation[0] not in _KEPT_NUMBERS:
        return False
    return operation[0] != "append" or _is_only_filled(place, call.func)


def _is_only_filled(place: TracedStatement, append: ast.expr) -> bool:
    """Whether a list to which a number is appended is only filled and returned."""
    name = append.value.id if isinstance(append, ast.Attribute) and isinstance(append.value, ast.Name) else None
    if name is None:
        return isinstance(append, ast.Attribute) and isinstance(append.value, ast.Attribute)
    parents = [place.index.parents[each] for each in loads(place.function, name)]
    fills = [each for each in parents if isinstance(each, ast.Attribute) and each.attr in ("append", "extend")]
    return all(each in fills or isinstance(each, ast.Return | ast.Tuple) for each in parents)
