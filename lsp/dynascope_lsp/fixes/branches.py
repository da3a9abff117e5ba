"""A branch on a tensor's values: `torch.cond` in its place, as far as that is mechanical."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.documents.edits import replaced
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.recorded.findings import Finding

TYPE = "Data-dependent branching"


def fixes(text: Text, finding: Finding) -> Iterator[Fix]:
    if finding.type != TYPE or text.index is None:
        return
    statement = text.index.statement_at(finding.line)
    if isinstance(statement, ast.If) and statement.test.lineno == finding.line:
        new = _from_if(text, statement)
        if new is not None:
            yield Fix("Replace the branch by torch.cond", [replaced(text, statement, new)])
        return
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.IfExp) and node.lineno == finding.line:
            new = _cond(text, node.test, node.body, node.orelse)
            yield Fix("Replace the branch by torch.cond", [replaced(text, node, new)])
            chosen = f"torch.where({_code(text, node.test)}, {_code(text, node.body)}, {_code(text, node.orelse)})"
            yield Fix("Compute both and choose with torch.where", [replaced(text, node, chosen)])
            return


def _from_if(text: Text, node: ast.If) -> str | None:
    """Both branches return, or assign one and the same name; else there is no mechanical way."""
    if len(node.body) != 1 or len(node.orelse) > 1:
        return None
    then, otherwise = node.body[0], node.orelse[0] if node.orelse else None
    if isinstance(then, ast.Return) and isinstance(otherwise, ast.Return) and then.value and otherwise.value:
        return f"return {_cond(text, node.test, then.value, otherwise.value)}"
    target, value = _assignment(then)
    if target is None or value is None:
        return None
    if otherwise is None:
        # what a branch returns must not be what it was given
        return f"{target} = {_cond(text, node.test, value, ast.parse(f'{target}.clone()', mode='eval').body)}"
    other_target, other_value = _assignment(otherwise)
    if other_target != target or other_value is None:
        return None
    return f"{target} = {_cond(text, node.test, value, other_value)}"


def _assignment(node: ast.stmt) -> tuple[str | None, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    return None, None


def _cond(text: Text, test: ast.expr, body: ast.expr, orelse: ast.expr) -> str:
    """The operands are the local names that the branches read; modules, functions and `self` are closed over."""
    names: list[str] = []
    for branch in (body, orelse):
        called = {id(node.func) for node in ast.walk(branch) if isinstance(node, ast.Call)}
        roots = {id(node.value) for node in ast.walk(branch) if isinstance(node, ast.Attribute) and id(node) in called}
        for node in ast.walk(branch):
            local = isinstance(node, ast.Name) and node.id not in ("self", "cls", "torch", "F", "nn", "math")
            if isinstance(node, ast.Name) and local and id(node) not in called and node.id not in names:
                if id(node) in roots and _is_module(text, node.id):
                    continue
                names.append(node.id)
    parameters = ", ".join(names)
    operands = f"({parameters},)" if len(names) == 1 else f"({parameters})"
    space = " " if parameters else ""
    branches = [f"lambda{space}{parameters}: {_code(text, each)}" for each in (body, orelse)]
    return f"torch.cond({_code(text, test)}, {branches[0]}, {branches[1]}, {operands})"


def _is_module(text: Text, name: str) -> bool:
    tree = text.tree
    return tree is not None and any(
        isinstance(node, ast.Import) and any((a.asname or a.name.partition(".")[0]) == name for a in node.names)
        for node in ast.walk(tree)
    )


def _code(text: Text, node: ast.expr) -> str:
    """As it is written, on one line."""
    return ast.get_source_segment(text.source, node) if _is_written(text, node) else ast.unparse(node)  # type: ignore[return-value]


def _is_written(text: Text, node: ast.expr) -> bool:
    return (
        hasattr(node, "end_lineno")
        and node.lineno == node.end_lineno
        and text.line(node.lineno) != ""
        and (node.lineno != 1 or not isinstance(node, ast.Call) or ast.unparse(node) in text.line(1))
    )
