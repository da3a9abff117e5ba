"""Insert `comptime.breakpoint()` (it stops while Dynamo traces) or replace `breakpoint()`."""

from __future__ import annotations

import ast

from dynascope_lsp.documents.edits import imports_from, inserted_after_imports, inserted_before, replaced
from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Fix

COMPTIME_IMPORT = "from torch._dynamo.comptime import comptime"
COMPTIME_BREAKPOINT = "comptime.breakpoint()"


def replaced_breakpoint(text: Text, line: int) -> Fix | None:
    """Replace `breakpoint()` on a line by `comptime.breakpoint()`; None if there is none."""
    for call in text.index.calls.get(line, ()) if text.index else ():
        if dotted(call.func) == "breakpoint" and not call.args and not call.keywords:
            edits = [replaced(text, call, COMPTIME_BREAKPOINT), *_comptime(text)]
            return Fix("Stop here while Dynamo traces: replace breakpoint() by comptime.breakpoint()", edits)
    return None


def insert_breakpoint(text: Text, line: int) -> Fix | None:
    """Insert `comptime.breakpoint()` before a statement of a function; None elsewhere."""
    index = text.index
    function = index.function_at(line) if index else None
    statement = index.statement_at(line) if index else None
    if function is None or statement is None or statement is function.node or COMPTIME_BREAKPOINT in text.line(line):
        return None
    if not any(statement is node for node in ast.walk(function.node)):
        return None
    edits = [inserted_before(text, statement, COMPTIME_BREAKPOINT), *_comptime(text)]
    return Fix("Stop here while Dynamo traces: insert comptime.breakpoint()", edits)


def _comptime(text: Text) -> list:  # type: ignore[type-arg]
    tree = text.tree
    if tree is None or imports_from(tree, "torch._dynamo.comptime", "comptime"):
        return []
    return inserted_after_imports(text, COMPTIME_IMPORT, without="torch")
