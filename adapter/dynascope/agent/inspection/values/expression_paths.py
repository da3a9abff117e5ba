"""Find the row of the Variables view for an expression such as `self.layers[0].weight`."""

from __future__ import annotations

import ast
from itertools import islice

from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions

_SEARCHED = 2_000
"""The maximum number of rows searched for an attribute or key before the expression is evaluated instead."""


def row_at(expression: ast.expr, names: Names, options: ViewOptions) -> Row | None:
    """Return the row that names, attributes and constant subscripts lead to, or None."""
    if isinstance(expression, ast.Name):
        try:
            return names.find(expression.id).row(options, expression.id, expression.id)
        except KeyError:
            return None
    if not isinstance(expression, (ast.Attribute, ast.Subscript)):
        return None
    owner = row_at(expression.value, names, options)
    if owner is None or owner.children is None:
        return None
    if isinstance(expression, ast.Subscript):
        return _item(owner.children, expression, options)
    return _with_path(owner.children, f"{owner.path}.{expression.attr}", options)


def _item(children: Children, expression: ast.Subscript, options: ViewOptions) -> Row | None:
    try:
        key = ast.literal_eval(expression.slice)
    except ValueError:
        return None
    if type(key) is int:
        index = key + children.indexed.count if key < 0 else key
        row = (
            next(children.indexed.make(options, index, index + 1), None)
            if 0 <= index < children.indexed.count
            else None
        )
        if row is not None and row.path is not None and row.path.endswith(f"[{index}]"):
            return row
    return _with_key(children, key, options)


def _with_path(children: Children, path: str, options: ViewOptions) -> Row | None:
    for rows in (children.named, children.indexed):
        for row in islice(rows.make(options, 0, min(rows.count, _SEARCHED)), _SEARCHED):
            if row.path == path:
                return row
    return None


def _with_key(children: Children, key: object, options: ViewOptions) -> Row | None:
    for rows in (children.indexed, children.named):
        for row in islice(rows.make(options, 0, min(rows.count, _SEARCHED)), _SEARCHED):
            if row.path is not None and row.path.endswith(f"[{key!r}]"):
                return row
    return None
