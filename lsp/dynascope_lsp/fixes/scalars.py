"""`.item()`: keep the tensor, or read the value before the graph begins."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.documents.edits import inserted_before, replaced
from dynascope_lsp.documents.syntax import Function, Index
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.recorded.findings import Finding

REGISTRY_ID = "GB0124"
_CONVERSIONS = ("float", "int", "bool")


def fixes(text: Text, finding: Finding) -> Iterator[Fix]:
    index = text.index
    if index is None or (finding.registry_id != REGISTRY_ID and "item()" not in finding.type):
        return
    for call in index.calls.get(finding.line, ()):
        tensor = _read_tensor(call)
        if tensor is None:
            continue
        source = ast.get_source_segment(text.source, tensor)
        if source is None:
            continue
        yield Fix(f"Keep it a tensor: {_short(source)}", [replaced(text, call, source)])
        hoisted = _hoisted(text, index, call, tensor, finding.line)
        if hoisted is not None:
            yield hoisted
        return


def _read_tensor(call: ast.Call) -> ast.expr | None:
    """The tensor of `tensor.item()`, `float(tensor)`."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "item" and not call.args:
        return call.func.value
    if isinstance(call.func, ast.Name) and call.func.id in _CONVERSIONS and len(call.args) == 1:
        return call.args[0]
    return None


def _hoisted(text: Text, index: Index, call: ast.Call, tensor: ast.expr, line: int) -> Fix | None:
    """To the start of the function, when the tensor comes from its parameters alone: then one graph follows."""
    function = index.function_at(line)
    if function is None or not function.node.body:
        return None
    parameters = {each.arg for each in function.parameters}
    read = {node.id for node in ast.walk(tensor) if isinstance(node, ast.Name)}
    if not read or not read <= parameters | {"torch"} or _assigned_before(function, read, line):
        return None
    body = function.node.body
    first = (
        body[1]
        if len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        else body[0]
    )
    if first.lineno >= line:
        return None
    name = _free_name(function, "value")
    source = ast.get_source_segment(text.source, call)
    edits = [inserted_before(text, first, f"{name} = {source}"), replaced(text, call, name)]
    return Fix("Hoist .item() to the start of the function, before its graph", edits)


def _assigned_before(function: Function, names: set[str], line: int) -> bool:
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names and node.lineno <= line
        for node in ast.walk(function.node)
    )


def _free_name(function: Function, wanted: str) -> str:
    taken = {node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)}
    taken |= {each.arg for each in function.parameters}
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _short(source: str) -> str:
    return source if len(source) <= 40 else f"{source[:39]}…"
