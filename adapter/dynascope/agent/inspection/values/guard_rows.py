"""Show guards: expression, type, the line that created each, Dynamo's details below; and the source of a variable."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.history_rows import history_row, with_history
from dynascope.agent.inspection.values.locations import Place
from dynascope.agent.inspection.values.rows import Children, Datum, Row, ViewOptions, few, virtual
from dynascope.agent.inspection.values.text import value_text
from dynascope.agent.internals.codegen.reconstruction import way
from dynascope.agent.internals.guards.guards import (
    Frame,
    GuardedSources,
    GuardFact,
    InputRelation,
    ShapeGuardFact,
    details,
    guards_on,
    shape_guards_on,
    symbols_of,
)
from dynascope.agent.internals.sources import answers, guard_source_name, is_source, parts, source_text
from dynascope.agent.internals.variables.variables import class_names, is_modified, source_object
from dynascope.facts.counts import counted
from dynascope.facts.file_names import short_name

PART_OF_GUARDS = "guards"
"""The type of rows that hold guards."""
_SHOWN = 5
"""The number of guards named in the row `guards` itself."""


def source_row(name: str, source: Any) -> Row:
    """Return the row of a source (`L['x'].shape[0]`), with class, guard source, fields below."""
    children = few(lambda options: list(_rows(options, source)))
    return virtual(name, source_text(source) or "none", type=type(source).__name__, children=children)


def _rows(options: ViewOptions, source: Any) -> Iterator[Row]:
    yield virtual("kind", type(source).__name__)
    if (guard_source := guard_source_name(source)) is not None:
        yield virtual("guard_source", guard_source)
    for field, value in parts(source).items():
        if is_source(value):
            yield source_row(field, value)
        elif value is not None:
            yield concrete.untracked_row(options, field, value, None)
    for question, answer in answers(source):
        yield virtual(question, str(answer))


def guard_row(fact: GuardFact, sources: GuardedSources | None = None) -> Row:
    """Return the row of a guard on a source or on global state.

    `sources` tells the name and the value.
    """
    return _row(fact, fact.kind, sources, few(lambda options: list(_details(options, fact))))


def _row(fact: GuardFact, kinds: str, sources: GuardedSources | None, children: Children) -> Row:
    where = f" at {short_name(fact.file)}:{fact.line}" if fact.file else ""
    text, name = f"{kinds if fact.source else 'global state'}{where}", fact.source or fact.kind
    if fact.source and sources is not None:
        name, text = sources.name(fact), f"{sources.value(fact)}  {text}".lstrip()
    datum = Datum("source", fact.source) if fact.source else None
    return virtual(name, text, type=kinds, children=children, made_at=_place(fact), subject=datum)


def guard_rows(facts: Iterable[GuardFact], sources: GuardedSources) -> Iterator[Row]:
    """Yield a row for each source in the order of its first guard; several guards are below it."""
    by_source: dict[str, list[GuardFact]] = {}
    for fact in facts:
        by_source.setdefault(fact.source or fact.kind, []).append(fact)
    for of_source in by_source.values():
        yield guard_row(of_source[0], sources) if len(of_source) == 1 else _joined(of_source, sources)


def _joined(facts: Sequence[GuardFact], sources: GuardedSources) -> Row:
    """Return one row for several guards on one source, which are below it."""
    first = facts[0]

    def below(options: ViewOptions) -> list[Row]:
        source = source_row("source", details(first.guard).originating_source)
        guards = [replace(guard_row(fact), name=fact.kind) for fact in facts]
        return [source, *guards, *history_row(lambda past: past.of_guard(first.source))(options)]

    return _row(first, ", ".join(fact.kind for fact in facts), sources, few(below))


def part_row(part: str, facts: Sequence[GuardFact], sources: GuardedSources) -> Row:
    """Return a row for guards on one inner part of torch, which are below it."""
    rows = few(lambda options: list(guard_rows(facts, sources)))
    return virtual(part, counted(len(facts), "guard"), type=PART_OF_GUARDS, children=rows)


def _place(fact: GuardFact) -> Place | None:
    return (fact.file, fact.line) if fact.file and fact.line else None


def _details(options: ViewOptions, fact: GuardFact) -> Iterator[Row]:  # noqa: C901 - one case a line
    guard = details(fact.guard)
    if fact.source:
        yield source_row("source", guard.originating_source)
    else:
        yield virtual("source", "(global state)")
    yield virtual("type", fact.kind)
    yield virtual("guard_source", guard.guard_source)
    if guard.arguments:
        arguments = ", ".join(
            value_text(value, options, 1) if name.startswith("[") else f"{name}={value_text(value, options, 1)}"
            for name, value in guard.arguments.items()
        )
        rows = [concrete.untracked_row(options, name, value, None) for name, value in guard.arguments.items()]
        yield virtual("create_fn", f"{fact.kind}({arguments})", children=few(rows))
    if fact.file:
        yield virtual("user line", f"{fact.file}:{fact.line}", made_at=_place(fact))
    if len(guard.user_stack) > 1:
        yield stack_row("user_stack", guard.user_stack)
    if guard.framework_stack:
        yield stack_row("stack", guard.framework_stack)
    if guard.guard_types:
        yield virtual("guard_types", ", ".join(guard.guard_types))
    if guard.guarded_object is not None:
        guarded, alive = guard.guarded_object
        yield concrete.untracked_row(options, "obj_weakref", guarded, None) if alive else Row("obj_weakref", "dead")
    if guard.guarded_class is not None:
        yield concrete.untracked_row(options, "guarded_class_weakref", guard.guarded_class, None)
    yield virtual("serializable", f"no: {guard.unserializable}" if guard.unserializable else "yes")
    if guard.forces_dict_keys_match:
        yield virtual("_force_dict_keys_match", "True")
    for i, line in enumerate(fact.code):
        yield virtual(f"code[{i}]", line)
    yield from history_row(lambda past: past.of_guard(fact.source, fact.kind))(options)


def stack_row(name: str, stack: Sequence[Frame]) -> Row:
    """Return a row with the frames below, innermost first; it shows the innermost itself."""
    rows = [
        virtual(function, f"{path}:{line}", made_at=(path, line) if line else None)
        for path, line, function in reversed(stack)
    ]
    path, line, function = stack[-1]
    text = f"{short_name(path)}:{line} in {function}"
    more = f", {len(stack)} frames" if len(stack) > 1 else ""
    return virtual(name, text + more, children=few(rows), made_at=rows[0].made_at)


def shape_guard_row(fact: ShapeGuardFact) -> Row:
    """Return the row of a guard on symbols."""
    place = fact.user_place
    where = f"{place[0]}:{place[1]}" if place is not None else fact.user_line
    shown = f"{short_name(place[0])}:{place[1]}" if place is not None else os.path.basename(where or "")
    text = f"{', '.join(fact.sources)}  SHAPE_ENV{f' at {shown}' if shown else ''}".strip()
    rows = [
        virtual("code[0]", fact.expression),
        virtual("user line", where or "unknown", made_at=place),
        _framework_row(fact.framework),
        virtual("size_oblivious", str(fact.size_oblivious)),
    ]
    row = virtual(fact.expression, text, type="SHAPE_ENV", children=few(rows), made_at=place)
    return with_history(row, lambda past: past.of_shape_guard(fact.guard))


def guards_row(on_source: Sequence[GuardFact], on_symbols: Sequence[ShapeGuardFact]) -> Row:
    """Return the row `guards` of one value: some named in the row, and all below it."""
    names = [fact.kind for fact in on_source] + [fact.expression for fact in on_symbols]
    if not names:
        return virtual("guards", "none yet")
    more = f", … {len(names)} in all" if len(names) > _SHOWN else ""
    rows = [replace(guard_row(fact), name=fact.kind) for fact in on_source]  # their source is the same for all
    rows += map(shape_guard_row, on_symbols)
    return virtual("guards", ", ".join(names[:_SHOWN]) + more, children=few(rows))


def _framework_row(where: Frame | str | None) -> Row:
    if isinstance(where, tuple):
        path, line, function = where
        return virtual("framework_loc", f"{path}:{line} in {function}", made_at=(path, line))
    return virtual("framework_loc", where or "unknown")


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
    return virtual(relation.kind, text, type=relation.kind, children=few(rows))


def origin_rows(options: ViewOptions, variable: object, unknown: str = "created while tracing") -> list[Row]:
    """Return the rows `source` (`unknown` if there is none) and `guards`, on it and its sizes."""
    source = source_object(variable)
    if source is None:
        return [virtual("source", unknown)]
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
    return [virtual("reconstruct", text, type=reconstruction.kind)]


def about_rows(options: ViewOptions, variable: object) -> list[Row]:
    """Return `reconstruct` and `VariableTracker`: kind, with source, guards, mutation below."""
    kind, source = class_names(variable)[0], source_row("source", source_object(variable)).value
    rows = [virtual("kind", kind), *origin_rows(options, variable)]
    modified = is_modified(variable)
    if modified:
        rows.append(virtual("modified", "True: the real object changes only when the compiled code runs"))
    has_source = source_object(variable) is not None
    text = kind + (f" from {source}" if has_source else "") + (", modified" if modified else "")
    return [*way_rows(options, variable), virtual("VariableTracker", text, children=few(rows))]
