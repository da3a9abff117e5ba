"""Build the heading Codegen: the values restored around an ended graph, and its bytecode by what it builds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any

from dynascope.agent.inspection.values import symbolic
from dynascope.agent.inspection.values.rows import Heading, Row, ViewOptions, few, virtual
from dynascope.agent.inspection.values.symbolic_text import variable_text
from dynascope.agent.internals.codegen.codegen import EndedGraph, Part, ResumeFunction
from dynascope.agent.internals.codegen.reconstruction import expression, parts_of, way
from dynascope.agent.internals.frames.instructions import Instruction, described
from dynascope.agent.internals.frames.resume import frame_name, original_code
from dynascope.agent.internals.frames.translators import code_of, instruction
from dynascope.agent.internals.variables.held import Cell, Entries, Items, Members, NestedFunction, Object, Parts
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.variables import SideEffects, is_variable, source_of, without_lazy

_MADE_OF = (Items, Entries, Members, Object, Parts, NestedFunction)
_DEPTH = 3
_NAMES = 2_000
_SLOT = re.compile(r"\[\d+\] (?=.)")


class ValueNames:
    """The names of the live variables, read once at a stop."""

    def __init__(self, ending: EndedGraph) -> None:
        self._effects = SideEffects(ending.output)
        self._names: dict[int, list[str]] = {}
        self._take(_alive(ending))
        self._take(self._changed(ending))

    def _take(self, named: Iterator[tuple[str, object]]) -> None:
        waiting = [(name, variable, 0) for name, variable in named]
        for name, variable, depth in waiting:  # grows: variables with a name of their own come first
            realized, _ = without_lazy(variable)
            if realized is None or len(self._names) >= _NAMES:
                continue
            names = self._names.setdefault(id(realized), [])
            is_new = not names
            if is_new or (name not in names and not depth):
                names.append(name)
            if not is_new:
                continue
            content = contents(realized, self._effects)
            if isinstance(content, Cell) and content.contents is not None:
                waiting.append((name, content.contents, depth))
            elif depth < _DEPTH and isinstance(content, _MADE_OF):
                waiting += [(_reach(name, part), inner, depth + 1) for part, inner in parts_of(content)]

    def _changed(self, ending: EndedGraph) -> Iterator[tuple[str, object]]:
        """Yield the pending attributes of real objects, named by the object."""
        for part in ending.replayed():
            owner = self.of(part.subject).partition(", ")[0]
            if owner:
                yield owner, part.subject
                for name, value in self._effects.pending_attributes(part.subject).items():
                    yield _reach(owner, name), value

    def of(self, variable: object) -> str:
        """Return all names of a variable, else its source, else ""."""
        realized, _ = without_lazy(variable)
        names = [] if realized is None else self._names.get(id(realized), [])
        return ", ".join(names) or (source_of(variable if realized is None else realized) or "")


def _alive(ending: EndedGraph) -> Iterator[tuple[str, object]]:
    for frame in ending.frames:
        yield from ((_SLOT.sub("", name), variable) for name, variable in frame.values())
        yield from frame.unchanged.items()
        yield from frame.cells.items()
        yield from frame.pruned.items()


def _reach(name: str, part: str) -> str:
    return f"{name}{part}" if part.startswith("[") else f"{name}.{part}"


_BEFORE = "before the graph"
_CALL = "calls the graph"
_KEEPS = "keeps the outputs"
_HANDS_OVER = "passes the values"
_ITSELF = "the instruction that breaks"
_GOES_ON = "continues"
_RETURNS = "returns"

NAME = "Codegen"
_NOTHING = "none"


def instruction_rows(generated: list[Any], ending: EndedGraph, names: ValueNames) -> list[Row]:
    """Return a row for each group, with its instructions below, numbered in the function."""
    listing = described(generated)
    labels = _labels(generated, ending, names)
    rows = []
    for (_, label), group in groupby(range(len(generated)), key=lambda i: labels[i]):
        indices = list(group)
        children = few([virtual(str(i), _text(listing[i])) for i in indices])
        first = listing[indices[0]].opname
        count = f"{first}, {len(indices)} instructions" if len(indices) > 1 else first
        rows.append(virtual(label, count, children=children))
    return rows


def purposes_of(ending: EndedGraph) -> list[tuple[Any, str]]:
    """Return the instructions generated so far, each with what it is for."""
    generated = ending.instructions()
    resumes = {resume.name: f"calls {resume.code.co_name}" for resume in ending.resumes}
    parts, calls = [], None
    for each, (_, label) in zip(generated, _labels(generated, ending, ValueNames(ending)), strict=True):
        calls = resumes.get(each.argval) if each.opname == "LOAD_GLOBAL" and each.argval in resumes else calls
        parts.append((each, calls or label))
    return parts


def _labels(generated: list[Any], ending: EndedGraph, names: ValueNames) -> list[tuple[int, str]]:
    """Return for each instruction its group: a number, unique for each group, and a label."""
    groups = {id(instruction): (-1, _CALL) for instruction in ending.call}
    value_names = {id(value): name for frame in ending.frames for name, value in frame.values()}
    for number, part in enumerate(ending.parts()):
        label = _label(part, value_names, names)
        groups |= {id(instruction): (number, label) for instruction in part.instructions}
    at = [i for i, instruction in enumerate(generated) if id(instruction) in groups]
    first, last = (at[0], at[-1]) if at else (len(generated), -1)
    after = _HANDS_OVER if ending.is_break else _RETURNS
    between = [_BEFORE if i < first else _KEEPS if i < last else after for i in range(len(generated))]
    labels = [groups.get(id(instruction), (-2, between[i])) for i, instruction in enumerate(generated)]
    own = _own_instruction(generated, last, ending)
    if own is not None:
        labels[own] = -3, _ITSELF
        for i in range(own + 1, len(generated)):
            labels[i] = -4, _GOES_ON
    return labels


def _own_instruction(generated: list[Any], last: int, ending: EndedGraph) -> int | None:
    """Return the index of the user's instruction at the break, found by its source positions."""
    if not ending.is_break:
        return None
    broken = instruction(ending.frames[-1].translator)
    for i in range(last + 1, len(generated)):
        own = generated[i]
        if own.opname == broken.opname and own.positions is not None and own.positions == broken.positions:
            return i
    return None


def _label(part: Part, values: dict[int, str], names: ValueNames) -> str:
    subject = part.subject
    match part.kind:
        case "value":
            return values.get(id(subject), "value")
        case "new objects":
            return f"new object {names.of(subject)}".rstrip() if subject is not None else "new objects"
        case "side effects":
            return f"change of {names.of(subject)}".rstrip() if subject is not None else "changes"
        case "applied":
            return "changes take effect"
    return part.kind


def _text(row: Instruction) -> str:
    argument = row.argument if row.target is None else f"to {row.target}"
    return f"{row.opname:<24} {argument}".rstrip()


def heading(ending: EndedGraph) -> Heading:
    names = ValueNames(ending)
    return Heading(NAME, few(lambda options: list(_rows(options, ending, names))), expensive=True)


def _rows(options: ViewOptions, ending: EndedGraph, names: ValueNames) -> Iterable[Row]:
    yield virtual("reason", ending.reason.partition("\n")[0])
    yield virtual("graph", ending.graph_name or "not called: nothing to compute")
    outputs = ending.outputs() if ending.graph_name is not None else []
    yield _group("outputs", [_numbered(i, names, variable) for i, variable in enumerate(outputs)])
    yield _group("restored", _by_frame(ending, lambda frame: frame.values(), shows_way=True))
    yield _group("unchanged", _by_frame(ending, lambda frame: frame.unchanged.items()))
    yield _group("cells", _by_frame(ending, lambda frame: frame.cells.items()))
    yield _group("dropped", _by_frame(ending, lambda frame: frame.pruned.items()))
    changes = [_change(i, names, change.subject) for i, change in enumerate(ending.replayed())]
    yield _group("replayed", changes, ", which take effect from the last to the first" if len(changes) > 1 else "")
    temporaries = ending.temporaries().items()
    yield _group("temporaries", [_kept(name, subject, ending, names) for name, subject in temporaries])
    uses = sorted((ending.uses or {}).items(), key=lambda use: -use[1])
    yield _group("uses", [partial(_subject, text=str(times), subject=each, names=names) for each, times in uses])
    overridden = ending.overridden()
    if overridden:
        rows = [virtual(expression(old), expression(new)) for old, new in overridden.items()]
        yield virtual("overridden sources", str(len(rows)), children=few(rows))
    yield _group("resume functions", [_resume(resume) for resume in ending.resumes])
    generated = ending.instructions()
    yield virtual(
        "instructions", f"{len(generated)}", children=few(lambda options: instruction_rows(generated, ending, names))
    )


Make = Callable[[ViewOptions], Row]


def _group(name: str, rows: list[Make], more: str = "") -> Row:
    children = few(lambda options: [make(options) for make in rows]) if rows else None
    return virtual(name, f"{len(rows)}{more}" if rows else _NOTHING, children=children)


def _by_frame(
    ending: EndedGraph, values: Callable[[Any], Iterable[tuple[str, object]]], shows_way: bool = False
) -> list[Make]:
    """Return a row for each value; `shows_way`: show how it is reconstructed, not its value."""
    rows: list[Make] = []
    for frame in ending.frames:
        function = frame_name(code_of(frame.translator))
        for name, value in values(frame):
            label = f"{name} in {function}" if len(ending.frames) > 1 else name
            rows.append(partial(_value, name=label, value=value, shows_way=shows_way))
    return rows


def _value(options: ViewOptions, name: str, value: object, shows_way: bool) -> Row:
    row = symbolic.row(options, name, value, None)
    if shows_way and options.effects is not None:
        reconstruction = way(value, options.effects)
        row.value, row.type = reconstruction.text, f"{reconstruction.kind}: {row.value}"
    return row


def _numbered(index: int, names: ValueNames, variable: object) -> Make:
    return lambda options: symbolic.row(options, f"[{index}] {names.of(variable)}".rstrip(), variable, None)


def _change(index: int, names: ValueNames, variable: object | None) -> Make:
    def make(options: ViewOptions) -> Row:
        row = _numbered(index, names, variable)(options)
        attributes = [] if options.effects is None else list(options.effects.pending_attributes(variable))
        changes = [f"sets .{name}" for name in attributes if name != "cell_contents"]
        row.type, row.value = f"{row.type}: {row.value}", ", ".join(changes) or f"takes {row.value}"
        return row

    return make


def _kept(name: str, subject: object, ending: EndedGraph, names: ValueNames) -> Make:
    times = (ending.uses or {}).get(subject)
    why = f"{name}, needed {times} times" if times is not None and times > 1 else name
    return lambda options: _subject(options, why, subject, names)


def _subject(options: ViewOptions, text: str, subject: object, names: ValueNames) -> Row:
    if not is_variable(subject):
        return virtual(expression(subject), text, type="source")
    row = symbolic.row(options, names.of(subject) or variable_text(options, subject, 0), subject, None)
    row.type, row.value = row.value, text
    return row


def _resume(resume: ResumeFunction) -> Make:
    original = original_code(resume.code)
    facts: Mapping[str, str] = {
        "continues": frame_name(original),
        "arguments": ", ".join(resume.arguments) or _NOTHING,
        "cells": ", ".join(resume.code.co_freevars) or _NOTHING,
    }
    children = few([virtual(name, value) for name, value in facts.items()])
    text = f"{resume.name}({', '.join(resume.arguments)})"
    place = original.co_filename, resume.code.co_firstlineno
    return lambda options: virtual(resume.name, text, children=children, made_at=place)
