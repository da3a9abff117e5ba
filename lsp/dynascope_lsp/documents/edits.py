"""The text edits of code actions: statements before a line, imports, Dynamo's options."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from lsprotocol import types

from dynascope_lsp.documents.syntax import first_line
from dynascope_lsp.documents.text import LINE_END, Text


def applied(text: Text, edits: Iterable[types.TextEdit]) -> str:
    """Return the source after edits that do not overlap."""
    source = text.source
    starts = [0, *(found.end() for found in LINE_END.finditer(source))]

    def offset(position: types.Position) -> int:
        before = text.line(position.line + 1).encode()[: text.column(position)]
        return starts[min(position.line, len(starts) - 1)] + len(before.decode(errors="ignore"))

    places = [(offset(edit.range.start), offset(edit.range.end), edit.new_text) for edit in edits]
    for start, end, new in sorted(places, key=lambda each: each[:2], reverse=True):
        source = source[:start] + new + source[end:]
    return source


def replaced(text: Text, node: ast.expr | ast.stmt, new: str) -> types.TextEdit:
    return types.TextEdit(text.range_of(node), new)


def inserted_before(text: Text, statement: ast.stmt, *lines: str) -> types.TextEdit:
    """Insert lines before a statement, with its indentation."""
    line = first_line(statement)
    indentation = text.line(line)[: len(text.line(line)) - len(text.line(line).lstrip())]
    start = types.Position(line - 1, 0)
    return types.TextEdit(types.Range(start, start), "".join(f"{indentation}{each}\n" for each in lines))


def inserted_after_imports(text: Text, *lines: str, without: str = "") -> list[types.TextEdit]:
    """Insert lines after the last import at the top, with `import torch` if it is missing."""
    tree = text.tree
    if tree is None:
        return []
    last = 0
    for statement in tree.body:
        if is_docstring(statement):
            last = max(last, statement.end_lineno or 0)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            last = statement.end_lineno or last
        else:
            break
    missing = [] if imports(tree, "torch") or without == "torch" else ["import torch"]
    new = "".join(f"{each}\n" for each in [*missing, *lines])
    if last >= len(text.lines) or (last == len(text.lines) - 1 and not text.lines[-1] and last == 0):
        new = "\n" + new if text.lines[-1] else new
    place = types.Position(last, 0)
    return [types.TextEdit(types.Range(place, place), new)]


def imports(tree: ast.Module, name: str) -> bool:
    """Whether `import NAME` is among the top-level statements."""
    return any(
        isinstance(each, ast.Import) and any(alias.name == name and alias.asname is None for alias in each.names)
        for each in tree.body
    )


def imports_from(tree: ast.Module, module: str, name: str) -> bool:
    return any(
        isinstance(each, ast.ImportFrom) and each.module == module and any(a.name == name for a in each.names)
        for each in tree.body
    )


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
