"""Show guards: expression, type, the line that created each, and Dynamo's details below."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.history_rows import history_row, with_history
from dynascope.agent.inspection.values.locations import Place
from dynascope.agent.inspection.values.rows import Children, Datum, Row, ViewOptions, computed, fixed
from dynascope.agent.inspection.values.source_rows import source_row
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.inspection.values.text import value_text
from dynascope.agent.internals.guards.details import Frame, details
from dynascope.agent.internals.guards.guards import GuardFact, InputRelation, ShapeGuardFact
from dynascope.agent.internals.sources import source_text

_SHOWN = 5
"""The number of guards named in the row `guards` itself."""


def guard_row(fact: GuardFact) -> Row:
    """Return the row of a guard on a source or on global state."""
    where = f" at {os.path.basename(fact.file)}:{fact.line}" if fact.file else ""
    datum = Datum("source", fact.source) if fact.source else None
    return Row(
        fact.source or fact.kind,
        f"{fact.kind if fact.source else 'global state'}{where}",
        type=fact.kind,
        children=Children(named=computed(lambda options: list(_details(options, fact)))),
        hint=VIRTUAL,
        made_at=_place(fact),
        subject=datum,
    )


def _place(fact: GuardFact) -> Place | None:
    return (fact.file, fact.line) if fact.file and fact.line else None


def _details(options: ViewOptions, fact: GuardFact) -> Iterator[Row]:  # noqa: C901 - one case a line
    guard = details(fact.guard)
    if fact.source:
        yield source_row("source", guard.originating_source)
    else:
        yield Row("source", "(global state)", hint=VIRTUAL)
    yield Row("type", fact.kind, hint=VIRTUAL)
    yield Row("guard_source", guard.guard_source, hint=VIRTUAL)
    if guard.arguments:
        arguments = ", ".join(
            value_text(value, options, 1) if name.startswith("[") else f"{name}={value_text(value, options, 1)}"
            for name, value in guard.arguments.items()
        )
        rows = [concrete.untracked_row(options, name, value, None) for name, value in guard.arguments.items()]
        yield Row("create_fn", f"{fact.kind}({arguments})", children=Children(named=fixed(rows)), hint=VIRTUAL)
    if fact.file:
        yield Row("user line", f"{fact.file}:{fact.line}", hint=VIRTUAL, made_at=_place(fact))
    if len(guard.user_stack) > 1:
        yield stack_row("user_stack", guard.user_stack)
    if guard.framework_stack:
        yield stack_row("stack", guard.framework_stack)
    if guard.guard_types:
        yield Row("guard_types", ", ".join(guard.guard_types), hint=VIRTUAL)
    if guard.guarded_object is not None:
        guarded, alive = guard.guarded_object
        yield concrete.untracked_row(options, "obj_weakref", guarded, None) if alive else Row("obj_weakref", "dead")
    if guard.guarded_class is not None:
        yield concrete.untracked_row(options, "guarded_class_weakref", guard.guarded_class, None)
    yield Row("serializable", f"no: {guard.unserializable}" if guard.unserializable else "yes", hint=VIRTUAL)
    if guard.forces_dict_keys_match:
        yield Row("_force_dict_keys_match", "True", hint=VIRTUAL)
    for i, line in enumerate(fact.code):
        yield Row(f"code[{i}]", line, hint=VIRTUAL)
    yield from history_row(lambda past: past.of_guard(fact.source, fact.kind))(options)


def stack_row(name: str, stack: Sequence[Frame]) -> Row:
    """Return a row with the frames below, innermost first; it shows the innermost itself."""
    rows = [
        Row(function, f"{path}:{line}", hint=VIRTUAL, made_at=(path, line) if line else None)
        for path, line, function in reversed(stack)
    ]
    path, line, function = stack[-1]
    text = f"{os.path.basename(path)}:{line} in {function}"
    more = f", {len(stack)} frames" if len(stack) > 1 else ""
    return Row(name, text + more, children=Children(named=fixed(rows)), hint=VIRTUAL, made_at=rows[0].made_at)


def shape_guard_row(fact: ShapeGuardFact) -> Row:
    """Return the row of a guard on symbols."""
    place = fact.user_place
    where = f"{place[0]}:{place[1]}" if place is not None else fact.user_line
    text = f"SHAPE_ENV{f' at {os.path.basename(where)}' if where else ''}"
    rows = [
        Row("code[0]", fact.expression, hint=VIRTUAL),
        Row("user line", where or "unknown", hint=VIRTUAL, made_at=place),
        _framework_row(fact.framework),
        Row("size_oblivious", str(fact.size_oblivious), hint=VIRTUAL),
    ]
    row = Row(
        fact.expression, text, type="SHAPE_ENV", children=Children(named=fixed(rows)), hint=VIRTUAL, made_at=place
    )
    return with_history(row, lambda past: past.of_shape_guard(fact.guard))


def guards_row(on_source: Sequence[GuardFact], on_symbols: Sequence[ShapeGuardFact]) -> Row:
    """Return the row `guards` of one value: some named in the row, and all below it."""
    names = [fact.kind for fact in on_source] + [fact.expression for fact in on_symbols]
    if not names:
        return Row("guards", "none yet", hint=VIRTUAL)
    more = f", … {len(names)} in all" if len(names) > _SHOWN else ""
    rows = [replace(guard_row(fact), name=fact.kind) for fact in on_source]  # their source is the same for all
    rows += map(shape_guard_row, on_symbols)
    return Row("guards", ", ".join(names[:_SHOWN]) + more, children=Children(named=fixed(rows)), hint=VIRTUAL)


def _framework_row(where: Frame | str | None) -> Row:
    if isinstance(where, tuple):
        path, line, function = where
        return Row("framework_loc", f"{path}:{line} in {function}", hint=VIRTUAL, made_at=(path, line))
    return Row("framework_loc", where or "unknown", hint=VIRTUAL)


def relation_row(relation: InputRelation) -> Row:
    """Return the row `DuplicateInputs` (one tensor) or `StorageOverlap` (which share storage)."""
    rows = [
        source_row(name if len(sources) == 1 else f"{name}[{i}]", source)
        for name, sources in relation.sources.items()
        for i, source in enumerate(sources)
    ]
    texts = {name: ", ".join(map(str, map(source_text, sources))) for name, sources in relation.sources.items()}
    if relation.kind == "DuplicateInputs":
        text = " is ".join(texts.values())
    else:
        text = "; ".join(f"{name.removesuffix('_sources')}: {names or 'none'}" for name, names in texts.items())
    return Row(relation.kind, text, type=relation.kind, children=Children(named=fixed(rows)), hint=VIRTUAL)
