"""Find the row of an expression or a path, such as `self.layers[0].weight` or `Shapes/s0`, at any kind of stop."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, Rows, ViewOptions
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.wire.dap import Variable
from dynascope.wire.to_agent import Evaluate, Scopes, Variables

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

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
    path = f"{owner.path}.{expression.attr}"
    return _first((owner.children.named, owner.children.indexed), options, lambda found: found == path)


def _item(children: Children, expression: ast.Subscript, options: ViewOptions) -> Row | None:
    try:
        key = ast.literal_eval(expression.slice)
    except ValueError:
        return None
    if type(key) is int:
        index = key + children.indexed.count if key < 0 else key
        exists = 0 <= index < children.indexed.count
        row = next(children.indexed.make(options, index, index + 1), None) if exists else None
        if row is not None and row.path is not None and row.path.endswith(f"[{index}]"):
            return row
    return _first((children.indexed, children.named), options, lambda found: found.endswith(f"[{key!r}]"))


def _first(parts: Iterable[Rows], options: ViewOptions, fits: Callable[[str], bool]) -> Row | None:
    for rows in parts:
        for row in islice(rows.make(options, 0, min(rows.count, _SEARCHED)), _SEARCHED):
            if row.path is not None and fits(row.path):
                return row
    return None


def rows_at(inspection: StopInspection, frame_id: int, text: str) -> list[Variable]:
    """Return the named rows below a scope, a row in it or a value. Raises EvaluationError."""
    head, _, path = text.partition("/")
    reference = scope_reference(inspection, frame_id, head)
    if reference is None:
        asked = Evaluate(frame_id=frame_id, expression=text, context="watch")
        reference = inspection.evaluate(asked).variables_reference
    elif path:
        reference = _below(inspection, reference, path, head)
    return rows_below(inspection, reference)


def scope_reference(inspection: StopInspection, frame_id: int, name: str) -> int | None:
    """Return the reference of a scope's rows; None where the frame has no scope of this name."""
    scopes = inspection.scopes(Scopes(frame_id=frame_id)).scopes
    return next((each.variables_reference for each in scopes if each.name.casefold() == name.casefold()), None)


def rows_below(inspection: StopInspection, reference: int) -> list[Variable]:
    """Return the named rows of a reference; all of its rows where it has no named ones."""
    if not reference:
        return []
    named = inspection.variables(Variables(variables_reference=reference, filter="named")).variables
    return named or inspection.variables(Variables(variables_reference=reference)).variables


def _fitting(rows: list[Variable], path: str) -> list[Variable]:
    return [each for each in rows if path == each.name or path.startswith(f"{each.name}/")]


def _below(inspection: StopInspection, reference: int, path: str, above: str) -> int:
    while path:
        # names can contain slashes (`L['a/b']`): the longest name that fits is taken
        rows = rows_below(inspection, reference)
        fitting = _fitting(rows, path)
        if not fitting and (fitting := _fitting(rows, readable(path))):  # `Guards/L['x']`, as torch writes it
            path = readable(path)
        if not fitting:
            raise EvaluationError(f"There is no `{path}` below `{above}`.")
        chosen = max(fitting, key=lambda row: len(row.name))
        reference, path, above = chosen.variables_reference, path[len(chosen.name) + 1 :], f"{above}/{chosen.name}"
    return reference
