"""Expressions that name a row of the Variables view: `self.layers[0].weight` is that very row, symbols and all."""

from __future__ import annotations

import ast
from itertools import islice

from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Below, Look, Row

_SEARCHED = 2_000
"""Rows looked through for an attribute or key before the expression is evaluated instead."""


def row_at(expression: ast.expr, names: Names, look: Look) -> Row | None:
    """The row an expression of names, attributes and constant subscripts leads to, or None when it leads to no row."""
    if isinstance(expression, ast.Name):
        try:
            return names.find(expression.id).row(look, expression.id, expression.id)
        except KeyError:
            return None
    if not isinstance(expression, (ast.Attribute, ast.Subscript)):
        return None
    owner = row_at(expression.value, names, look)
    if owner is None or owner.below is None:
        return None
    if isinstance(expression, ast.Subscript):
        return _item(owner.below, expression, look)
    return _with_path(owner.below, f"{owner.path}.{expression.attr}", look)


def _item(below: Below, expression: ast.Subscript, look: Look) -> Row | None:
    try:
        key = ast.literal_eval(expression.slice)
    except ValueError:
        return None
    if type(key) is int:
        index = key + below.indexed.count if key < 0 else key
        row = next(below.indexed.make(look, index, index + 1), None) if 0 <= index < below.indexed.count else None
        if row is not None and row.path is not None and row.path.endswith(f"[{index}]"):
            return row
    return _with_key(below, key, look)


def _with_path(below: Below, path: str, look: Look) -> Row | None:
    for rows in (below.named, below.indexed):
        for row in islice(rows.make(look, 0, min(rows.count, _SEARCHED)), _SEARCHED):
            if row.path == path:
                return row
    return None


def _with_key(below: Below, key: object, look: Look) -> Row | None:
    for rows in (below.indexed, below.named):
        for row in islice(rows.make(look, 0, min(rows.count, _SEARCHED)), _SEARCHED):
            if row.path is not None and row.path.endswith(f"[{key!r}]"):
                return row
    return None
