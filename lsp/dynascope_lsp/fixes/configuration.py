"""Insert `torch._dynamo.config.NAME = VALUE` after the imports of a file."""

from __future__ import annotations

import ast

from lsprotocol import types

from dynascope_lsp.documents.edits import is_docstring
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Fix, Refused

CONFIG = "torch._dynamo.config"


def setting(text: Text, option: str, title: str = "Set {}") -> Fix:
    """Add `torch._dynamo.config.OPTION`. Raises Refused if the file already mentions it."""
    name = option.partition(" ")[0].partition(".")[0]
    if name in text.source:
        raise Refused(f"This file says something about `{name}` already: see whether it is so when the function runs.")
    line = f"{CONFIG}.{option}"
    return Fix(title.format(line), [after_imports(text, line)])


def after_imports(text: Text, line: str) -> types.TextEdit:
    """Insert a statement after the imports, or after the first `import torch` below them."""
    tree = text.tree
    assert tree is not None
    last, at_top = 0, True
    place: int | None = None
    for number, statement in enumerate(tree.body):
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        at_top = at_top and (is_import or (number == 0 and is_docstring(statement)))
        if at_top:
            last = statement.end_lineno or 0
        if _imports_torch(statement) and (place is None or at_top):
            place = statement.end_lineno
    place = last if place is None or place < last else place
    new = (
        f"{line}\n"
        if any(_imports_torch(each) and (each.end_lineno or 0) <= place for each in tree.body)
        else (f"import torch\n{line}\n")
    )
    if place >= len(text.lines):
        new = f"\n{new}"
    start = types.Position(place, 0)
    return types.TextEdit(types.Range(start, start), new)


def _imports_torch(node: ast.stmt) -> bool:
    """Whether a statement imports torch as `torch`."""
    return isinstance(node, ast.Import) and any(
        (each.asname or each.name.partition(".")[0]) == "torch" and each.name.partition(".")[0] == "torch"
        for each in node.names
        if each.asname is None or each.name == "torch"
    )
