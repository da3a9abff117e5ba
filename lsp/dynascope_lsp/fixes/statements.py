"""Fix statements that give no value: `graph_break()`, assertions, and branches that only raise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lsprotocol import types

from dynascope_lsp.documents.edits import replaced
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.fixes.inference import torch_name
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

_BRANCH, _ON_PURPOSE = "GB0170", "GB0025"
_MESSAGE = "'the condition is false'"


def fixes(snapshot: Snapshot, finding: Finding) -> Iterator[Fix]:
    index = snapshot.text.index
    statement = index.statement_at(finding.line)
    if statement is None or finding.predicted or finding.stale or statement.lineno != finding.line:
        return
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="graph_break") | ast.Name(id="graph_break"))):
            if finding.registry_id == _ON_PURPOSE:
                yield Fix("Remove graph_break()", [_removed(snapshot, statement)])
        case ast.Assert(test=test, msg=message) if finding.registry_id == _BRANCH:
            yield _asserted(snapshot, statement, ast.unparse(test), message)
        case ast.If(test=test, body=[ast.Raise(exc=raised)], orelse=[]) if finding.registry_id == _BRANCH:
            holds = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
            wanted = ast.unparse(holds) if holds is not None else f"({ast.unparse(test)}).logical_not()"
            message = raised.args[0] if isinstance(raised, ast.Call) and raised.args else None
            yield _asserted(snapshot, statement, wanted, message)


def _asserted(snapshot: Snapshot, statement: ast.stmt, condition: str, message: ast.expr | None) -> Fix:
    """Assert in the graph; the error is another one, and comes when the graph runs."""
    text = _MESSAGE
    match message:
        case ast.Constant(value=str()):
            text = ast.unparse(message)
        case ast.JoinedStr(values=parts):  # values of tensors do not exist while Dynamo traces
            text = repr("".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in parts))
    new = f"{torch_name(snapshot.text.index)}._assert_async({condition}, {text})"
    return Fix("Assert in the graph: torch._assert_async", [replaced(snapshot.text, statement, new)], is_proven=False)


def _removed(snapshot: Snapshot, statement: ast.stmt) -> types.TextEdit:
    """Remove the line, or put `pass` there where a block would be empty."""
    parent = snapshot.text.index.parents[statement]
    blocks = (getattr(parent, name, None) for name in ("body", "orelse", "finalbody"))
    line = snapshot.text.line(statement.lineno).strip()
    if any(block == [statement] for block in blocks) or not line.endswith(")") or ";" in line:
        return replaced(snapshot.text, statement, "pass")
    start, end = (types.Position(number, 0) for number in (statement.lineno - 1, statement.end_lineno or 0))
    return types.TextEdit(types.Range(start, end), "")
