"""Show below a variable its source and the guards on it."""

from __future__ import annotations

from typing import Any

from dynascope.agent.inspection.values.guard_rows import guards_row
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, fixed
from dynascope.agent.inspection.values.source_rows import source_row
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.internals.codegen.reconstruction import way
from dynascope.agent.internals.guards.guards import guards_on, shape_guards_on, symbols_of
from dynascope.agent.internals.variables.variables import class_names, is_modified, source_object


def origin_rows(options: ViewOptions, variable: object, unknown: str = "created while tracing") -> list[Row]:
    """Return the rows `source` (`unknown` if there is none) and `guards`, on it and its sizes."""
    source = source_object(variable)
    if source is None:
        return [Row("source", unknown, hint=VIRTUAL)]
    return [source_row("source", source), *_guards_row(options, source)]


def _guards_row(options: ViewOptions, source: Any) -> list[Row]:
    if options.output is None:
        return []
    symbols = symbols_of(options.output, source)
    return [guards_row(guards_on(options.output, source), shape_guards_on(options.output, symbols) if symbols else [])]


def way_rows(options: ViewOptions, variable: object) -> list[Row]:
    """Return the row `reconstruct`: how Dynamo would restore it if the graph ended here."""
    if options.effects is None:
        return []
    reconstruction = way(variable, options.effects)
    is_impossible = reconstruction.kind == "impossible"
    text = f"cannot be made again: {reconstruction.text}" if is_impossible else reconstruction.text
    return [Row("reconstruct", text, type=reconstruction.kind, hint=VIRTUAL)]


def about_rows(options: ViewOptions, variable: object) -> list[Row]:
    """Return `reconstruct` and `VariableTracker`: kind, with source, guards, mutation below."""
    kind, source = class_names(variable)[0], source_row("source", source_object(variable)).value
    rows = [Row("kind", kind, hint=VIRTUAL), *origin_rows(options, variable)]
    modified = is_modified(variable)
    if modified:
        rows.append(Row("modified", "True: the real object changes only when the compiled code runs", hint=VIRTUAL))
    has_source = source_object(variable) is not None
    text = kind + (f" from {source}" if has_source else "") + (", modified" if modified else "")
    return [
        *way_rows(options, variable),
        Row("VariableTracker", text, children=Children(named=fixed(rows)), hint=VIRTUAL),
    ]
