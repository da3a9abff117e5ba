"""Every name that a file of torch's has: fields and public methods of its classes, and what the module itself holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

MODULE = "<module>"
"""Stands for the class of a module's own names."""


def names_of(path: Path) -> set[str]:
    """`Guard.code_list`, `Guard.create()`, `<module>.ops`: fields as they are declared, or assigned to `self`."""
    found: set[str] = set()
    for statement in _statements(ast.parse(path.read_text()).body):
        if isinstance(statement, ast.ClassDef):
            found |= {f"{statement.name}.{name}" for name in _of_class(statement)}
        elif isinstance(statement, ast.FunctionDef):
            found.add(f"{MODULE}.{statement.name}()")
        else:
            found |= {f"{MODULE}.{name}" for name in _assigned(statement)}
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those at the top, without what only a type checker reads."""
    for statement in body:
        if isinstance(statement, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(statement.test):
                yield from _statements([*statement.body, *statement.orelse])
        elif isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign)):
            yield statement


def _of_class(cls: ast.ClassDef) -> set[str]:
    found = set()
    for statement in cls.body:
        if isinstance(statement, ast.FunctionDef):
            if not statement.name.startswith("_"):
                is_property = any("property" in ast.unparse(each) for each in statement.decorator_list)
                found.add(statement.name if is_property else f"{statement.name}()")
            found |= {name for part in ast.walk(statement) for name in _assigned(part, owner="self")}
        else:
            found |= set(_assigned(statement))
    return {name for name in found if not name.startswith("__")}


def _assigned(statement: ast.AST, owner: str | None = None) -> Iterator[str]:
    """Names that a statement assigns or declares; with `owner`, attributes of that instead."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = [
            part for each in statement.targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])
        ]
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    for target in targets:
        if owner is None and isinstance(target, ast.Name):
            yield target.id
        elif owner is not None and isinstance(target, ast.Attribute) and ast.unparse(target.value) == owner:
            yield target.attr
