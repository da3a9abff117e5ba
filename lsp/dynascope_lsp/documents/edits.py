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


def inserted_after_imports(text: Text, line: str, *, names_torch: bool) -> types.TextEdit:
    """Insert a line after the imports.

    If it `names_torch` it comes after the first `import torch`, which is added where there is none.
    """
    tree, place = text.index.tree, 0
    for number, statement in enumerate(tree.body):
        if not (isinstance(statement, ast.Import | ast.ImportFrom) or (number == 0 and is_docstring(statement))):
            break
        place = statement.end_lineno or 0
    if names_torch:
        imported = next((each.end_lineno for each in tree.body if _imports_torch(each)), None)
        place = max(place, imported or 0)
        line = line if imported else f"import torch\n{line}"
    new = f"\n{line}\n" if place >= len(text.lines) else f"{line}\n"
    return types.TextEdit(types.Range(types.Position(place, 0), types.Position(place, 0)), new)


def _imports_torch(node: ast.stmt) -> bool:
    """Whether a statement imports torch as `torch`."""
    return isinstance(node, ast.Import) and any(
        each.name == "torch" if each.asname == "torch" else not each.asname and each.name.partition(".")[0] == "torch"
        for each in node.names
    )


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
