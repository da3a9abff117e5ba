"""Resolve imported names to full names: `F.relu` is `torch.nn.functional.relu`."""

from __future__ import annotations

import ast

from dynascope_lsp.documents.syntax import Index, dotted
from dynascope_lsp.fixes.fix import Refused


def full_name(index: Index, node: ast.AST) -> str | None:
    """Return the full name of an imported name or an attribute chain on one, or else None."""
    name = dotted(node)
    if name is None:
        return None
    first, _, rest = name.partition(".")
    found = None
    for statement in index.imports:
        for alias in statement.names:
            if (alias.asname or alias.name.partition(".")[0]) != first:
                continue
            if isinstance(statement, ast.ImportFrom):
                found = f"{statement.module}.{alias.name}" if statement.module and not statement.level else None
            else:
                found = alias.name if alias.asname else first
    return found and (f"{found}.{rest}" if rest else found)


def torch_name(index: Index | None) -> str:
    """Return the file's name for torch. Raises Refused without a top-level `import torch`."""
    for each in index.tree.body if index is not None else ():
        for alias in each.names if isinstance(each, ast.Import) else ():
            name = alias.asname or alias.name.partition(".")[0]
            if index is not None and full_name(index, ast.Name(name)) == "torch":
                return name
    raise Refused("`torch` is not imported here by `import torch`.")
