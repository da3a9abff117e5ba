"""Calls that Dynamo does not trace: keep them in the graph as they are, or replace `breakpoint()` by what stops while
tracing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.documents.edits import imports_from, inserted_after_imports, inserted_before, replaced
from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.recorded.findings import Finding

COMPTIME_IMPORT = "from torch._dynamo.comptime import comptime"
COMPTIME_BREAKPOINT = "comptime.breakpoint()"
_SKIPPED = ("Attempted to call function marked as skipped", "Attempted to inline function marked as skipped")


def fixes(text: Text, finding: Finding) -> Iterator[Fix]:
    index = text.index
    if index is None:
        return
    for call in index.calls.get(finding.line, ()):
        name = dotted(call.func)
        if name == "breakpoint":
            edits = [replaced(text, call, COMPTIME_BREAKPOINT), *_comptime(text)]
            yield Fix("Replace breakpoint() by comptime.breakpoint()", edits, preferred=True)
        elif name is not None and _wants_allow_in_graph(finding) and "." in name:
            line = f"torch.compiler.allow_in_graph({name})"
            if line not in text.source and (edits := inserted_after_imports(text, line)):
                yield Fix(f"Keep {name} in the graph as it is: {line}", edits)


def insert_breakpoint(text: Text, line: int) -> Fix | None:
    """`comptime.breakpoint()` before a statement inside of a function."""
    index = text.index
    function = index.function_at(line) if index else None
    statement = index.statement_at(line) if index else None
    if function is None or statement is None or statement is function.node or COMPTIME_BREAKPOINT in text.line(line):
        return None
    if not any(statement is node for node in ast.walk(function.node)):
        return None
    edits = [inserted_before(text, statement, COMPTIME_BREAKPOINT), *_comptime(text)]
    return Fix("Stop here while Dynamo traces: insert comptime.breakpoint()", edits)


def _wants_allow_in_graph(finding: Finding) -> bool:
    return any("allow_in_graph" in hint for hint in finding.hints) or finding.type.startswith(_SKIPPED)


def _comptime(text: Text) -> list:  # type: ignore[type-arg]
    tree = text.tree
    if tree is None or imports_from(tree, "torch._dynamo.comptime", "comptime"):
        return []
    return inserted_after_imports(text, COMPTIME_IMPORT, without="torch")
