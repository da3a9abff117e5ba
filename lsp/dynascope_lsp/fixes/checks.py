"""Check that a function gets only values as recorded, and that what a graph reads stays until its backward pass.

A number, or the side of a branch, is chosen once and for all; a graph computes both again in the backward pass, from
tensors that nothing may have written into by then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynascope_lsp.documents.syntax import Function, FunctionNode, Index
from dynascope_lsp.fixes.effects import is_number, mutates
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.inference import full_name
from dynascope_lsp.fixes.place import TracedStatement
from dynascope_lsp.fixes.sites import COMPILE, is_traced
from dynascope_lsp.recorded.program_files import program_files
from dynascope_lsp.recorded.snapshot import Snapshot

_OF_MODULES = ("forward", "__call__")
_PLAIN = re.compile(r"type=<class 'torch\.(Tensor|nn\.parameter\.(Parameter|Buffer))'>")


def check_plain_tensors(place: TracedStatement) -> None:
    """Raise Refused if a compile got tensors of a subclass, which torch.cond may not take."""
    facts = place.snapshot.facts
    assert facts is not None
    for number in facts.compiles:
        guards = facts.reader.guards(number)
        tensors = {each.expression for each in guards if each.kind == "TENSOR_MATCH"}
        classes = [each.code for each in guards if each.kind == "TYPE_MATCH" and each.expression in tensors]
        if any(not _PLAIN.search(code) for codes in classes for code in codes):
            raise Refused("The program computes with a subclass of tensors, which torch.cond may not take.")


def check_only_compiled(place: TracedStatement) -> None:
    """Raise Refused if the function may also run uncompiled, where nothing was recorded."""
    name, decorators = place.function.node.name, place.function.node.decorator_list
    if name in _OF_MODULES or any(_compiles(place.snapshot, each) for each in decorators):
        return
    for each in program_files(place.snapshot) or [place.snapshot]:
        if any(not _is_compiled(each, node) for node in _loads(each, name)):
            raise Refused(
                f"`{name}` is also used where it is not compiled, perhaps with other values than such tensors: make "
                "this edit by hand if it never gets any."
            )


def _loads(snapshot: Snapshot, name: str) -> Iterator[ast.Name | ast.Attribute]:
    """Yield the reads of a name or attribute, unless the file compiles what has it."""
    found = []
    for node in ast.walk(snapshot.text.index.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name and _compiles(snapshot, node.value):
                return
            case ast.Name(id=read, ctx=ast.Load()) | ast.Attribute(attr=read, ctx=ast.Load()) if read == name:
                found.append(node)
    yield from found


def _compiles(snapshot: Snapshot, node: ast.expr) -> bool:
    return full_name(snapshot.text.index, node.func if isinstance(node, ast.Call) else node) == COMPILE


def _is_compiled(snapshot: Snapshot, node: ast.expr) -> bool:
    """Whether a function is read in code that was traced, or in order to compile it."""
    index = snapshot.text.index
    function = index.function_at(node.lineno)
    if function is not None and is_traced(snapshot, function):
        return True
    parent = index.parents.get(node)
    return isinstance(parent, ast.Call) and node in parent.args and _compiles(snapshot, parent)


_BACKWARD = frozenset(("backward", "grad", "value_and_grad", "vjp", "jacrev"))
_PROBLEM = (
    "Line {} writes into a tensor before gradients are computed, for which the graph may read it again, and autograd "
    "refuses that: write after the backward pass."
)


def check_backward(place: TracedStatement) -> None:
    """Raise Refused if a tensor that is read may be written to before a backward pass."""
    known = [each.text.index for each in program_files(place.snapshot) or [place.snapshot]]
    passes = [(index, call) for index in known for call in _passes(index)]
    functions = {each.node.name: each for index in known for each in index.functions}
    functions.pop(place.function.node.name, None)  # what a graph itself writes is not seen in its backward pass
    attributes = {each.attr for each in ast.walk(place.function.node) if isinstance(each, ast.Attribute)}
    for index in known if passes else ():
        for node in ast.walk(index.tree):
            if _writes(node, attributes) and not _is_constructed(index, node):
                raise Refused(_PROBLEM.format(getattr(node, "lineno", 0)))
    for index, call in passes:
        for statement in _before(index, call):
            if mutates(statement) or any(mutates(each.node) for each in _called(statement, functions)):
                raise Refused(_PROBLEM.format(statement.lineno))


def _passes(index: Index) -> Iterator[ast.Call]:
    for calls in index.calls.values():
        yield from (each for each in calls if isinstance(each.func, ast.Attribute) and each.func.attr in _BACKWARD)


def _writes(node: ast.AST, attributes: set[str]) -> bool:
    """Whether a node writes into a tensor that is an attribute of one of these names."""
    match node:
        case ast.Call(func=ast.Attribute(attr=operation, value=ast.Attribute(attr=name))):
            return name in attributes and operation.endswith("_") and not operation.endswith("__")
        case ast.Subscript(ctx=ast.Store(), value=ast.Attribute(attr=name)):
            return name in attributes
        case ast.AugAssign(target=ast.Attribute(attr=name), value=value):
            return name in attributes and not is_number(value)
    return False


def _is_constructed(index: Index, node: ast.AST) -> bool:
    """Whether a node is in a constructor."""
    function = index.function_at(getattr(node, "lineno", 0))
    return function is not None and function.node.name in ("__init__", "reset_parameters")


def _before(index: Index, call: ast.Call) -> Iterator[ast.stmt]:
    """Yield the statements before a backward pass, as far back as its loop or function begins."""
    node: ast.AST = call
    while not isinstance(node, ast.For | ast.While | ast.Module | FunctionNode):
        parent = index.parents[node]
        block = getattr(parent, "body", None)
        if isinstance(node, ast.stmt) and isinstance(block, list) and node in block:
            yield from block[: block.index(node)]
        node = parent


def _called(statement: ast.stmt, functions: dict[str, Function]) -> Iterator[Function]:
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return
    for each in ast.walk(statement):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in functions:
            yield functions[each.func.id]
