"""Build the heading Codegen: the values restored around an ended graph, and its bytecode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dynascope.agent.inspection.scopes.generated import instruction_rows
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values import symbolic
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, computed, fixed
from dynascope.agent.inspection.values.symbolic_text import variable_text
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.inspection.values.value_names import ValueNames
from dynascope.agent.internals.codegen.codegen import Ending, Resume
from dynascope.agent.internals.codegen.reconstruction import expression, way
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import code_of
from dynascope.agent.internals.variables.variables import is_variable

NAME = "Codegen"
_NOTHING = "none"


def heading(ending: Ending) -> Heading:
    names = ValueNames(ending)
    return Heading(NAME, Children(named=computed(lambda options: list(_rows(options, ending, names)))), expensive=True)


def _rows(options: ViewOptions, ending: Ending, names: ValueNames) -> Iterable[Row]:
    yield Row("reason", ending.reason.partition("\n")[0], hint=VIRTUAL)
    yield Row("graph", ending.graph_name or "not called: nothing to compute", hint=VIRTUAL)
    outputs = ending.outputs() if ending.graph_name is not None else []
    yield _group("outputs", [_output(i, names.of(variable), variable) for i, variable in enumerate(outputs)])
    yield _group("restored", _by_frame(ending, lambda frame: frame.values(), shows_way=True))
    yield _group("unchanged", _by_frame(ending, lambda frame: frame.unchanged.items()))
    yield _group("cells", _by_frame(ending, lambda frame: frame.cells.items()))
    yield _group("dropped", _by_frame(ending, lambda frame: frame.pruned.items()))
    changes = [_change(i, names, change.subject) for i, change in enumerate(ending.replayed())]
    yield _group("replayed", changes, ", which take effect from the last to the first" if len(changes) > 1 else "")
    temporaries = ending.temporaries().items()
    yield _group("temporaries", [_kept(name, subject, ending, names) for name, subject in temporaries])
    uses = sorted((ending.uses or {}).items(), key=lambda use: -use[1])
    yield _group("uses", [_used(subject, times, names) for subject, times in uses])
    overridden = ending.overridden()
    if overridden:
        rows = [Row(expression(old), expression(new), hint=VIRTUAL) for old, new in overridden.items()]
        yield Row("overridden sources", str(len(rows)), children=Children(named=fixed(rows)), hint=VIRTUAL)
    yield _group("resume functions", [_resume(resume) for resume in ending.resumes])
    generated = ending.instructions()
    yield Row(
        "instructions",
        f"{len(generated)}",
        children=Children(named=computed(lambda options: instruction_rows(generated, ending, names))),
        hint=VIRTUAL,
    )


Make = Callable[[ViewOptions], Row]


def _group(name: str, rows: list[Make], more: str = "") -> Row:
    children = Children(named=computed(lambda options: [make(options) for make in rows])) if rows else None
    return Row(name, f"{len(rows)}{more}" if rows else _NOTHING, children=children, hint=VIRTUAL)


def _by_frame(
    ending: Ending, values: Callable[[Any], Iterable[tuple[str, object]]], shows_way: bool = False
) -> list[Make]:
    """Return a row for each value; `shows_way`: show how it is reconstructed, not its value."""
    rows: list[Make] = []
    for frame in ending.frames:
        function = original_code(code_of(frame.translator)).co_name
        for name, value in values(frame):
            label = f"{name} in {function}" if len(ending.frames) > 1 else name
            rows.append(functools.partial(_value, name=label, value=value, shows_way=shows_way))
    return rows


def _value(options: ViewOptions, name: str, value: object, shows_way: bool) -> Row:
    row = symbolic.row(options, name, value, None)
    if shows_way and options.effects is not None:
        reconstruction = way(value, options.effects)
        row.value, row.type = reconstruction.text, f"{reconstruction.kind}: {row.value}"
    return row


def _output(index: int, names: str, variable: object) -> Make:
    return lambda options: symbolic.row(options, f"[{index}] {names}".rstrip(), variable, None)


def _change(index: int, names: ValueNames, variable: object | None) -> Make:
    def make(options: ViewOptions) -> Row:
        row = symbolic.row(options, f"[{index}] {names.of(variable)}".rstrip(), variable, None)
        attributes = [] if options.effects is None else list(options.effects.pending_attributes(variable))
        changes = [f"sets .{name}" for name in attributes if name != "cell_contents"]
        row.type, row.value = f"{row.type}: {row.value}", ", ".join(changes) or f"takes {row.value}"
        return row

    return make


def _kept(name: str, subject: object, ending: Ending, names: ValueNames) -> Make:
    times = (ending.uses or {}).get(subject)
    why = f"{name}, needed {times} times" if times is not None and times > 1 else name
    return lambda options: _subject(options, why, subject, names)


def _used(subject: object, times: int, names: ValueNames) -> Make:
    return lambda options: _subject(options, str(times), subject, names)


def _subject(options: ViewOptions, text: str, subject: object, names: ValueNames) -> Row:
    """Return the row of a source or a variable: its name, with `text` as its value."""
    if not is_variable(subject):
        return Row(expression(subject), text, type="source", hint=VIRTUAL)
    row = symbolic.row(options, names.of(subject) or variable_text(options, subject, 0), subject, None)
    row.type, row.value = row.value, text
    return row


def _resume(resume: Resume) -> Make:
    original = original_code(resume.code)
    facts: Mapping[str, str] = {
        "continues": original.co_qualname,
        "arguments": ", ".join(resume.arguments) or _NOTHING,
        "cells": ", ".join(resume.code.co_freevars) or _NOTHING,
    }
    children = Children(named=fixed([Row(name, value, hint=VIRTUAL) for name, value in facts.items()]))
    text = f"{resume.name}({', '.join(resume.arguments)})"
    place = original.co_filename, resume.code.co_firstlineno
    return lambda options: Row(resume.name, text, children=children, hint=VIRTUAL, made_at=place)
