"""List the instructions around a graph that has ended, grouped by what they build."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from dynascope.agent.inspection.values.rows import Children, Row, fixed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.inspection.values.value_names import ValueNames
from dynascope.agent.internals.codegen.codegen import Ending, Part
from dynascope.agent.internals.frames.instructions import Instruction, described
from dynascope.agent.internals.frames.translators import instruction

_BEFORE = "before the graph"
_CALL = "calls the graph"
_KEEPS = "keeps the outputs"
_HANDS_OVER = "passes the values"
_ITSELF = "the instruction that breaks"
_GOES_ON = "continues"
_RETURNS = "returns"


def instruction_rows(generated: list[Any], ending: Ending, names: ValueNames) -> list[Row]:
    """Return a row for each group, with its instructions below, numbered in the function."""
    listing = described(generated)
    labels = _labels(generated, ending, names)
    rows = []
    for (_, label), group in groupby(range(len(generated)), key=lambda i: labels[i]):
        indices = list(group)
        children = Children(named=fixed([Row(str(i), _text(listing[i]), hint=VIRTUAL) for i in indices]))
        first = listing[indices[0]].opname
        count = f"{first}, {len(indices)} instructions" if len(indices) > 1 else first
        rows.append(Row(label, count, children=children, hint=VIRTUAL))
    return rows


def parts_of(ending: Ending) -> list[tuple[Any, str]]:
    """Return the instructions generated so far, each with what it is for."""
    generated = ending.instructions()
    resumes = {resume.name: f"calls {resume.code.co_name}" for resume in ending.resumes}
    parts, calls = [], None
    for each, (_, label) in zip(generated, _labels(generated, ending, ValueNames(ending)), strict=True):
        calls = resumes.get(each.argval) if each.opname == "LOAD_GLOBAL" and each.argval in resumes else calls
        parts.append((each, calls or label))
    return parts


def _labels(generated: list[Any], ending: Ending, names: ValueNames) -> list[tuple[int, str]]:
    """Return for each instruction its group: a number, unique for each group, and a label."""
    groups = {id(instruction): (-1, _CALL) for instruction in ending.call}
    value_names = _names_of_values(ending)
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


def _own_instruction(generated: list[Any], last: int, ending: Ending) -> int | None:
    """Return the index of the user's instruction at the break, found by its source positions."""
    if not ending.is_break:
        return None
    broken = instruction(ending.frames[-1].translator)
    for i in range(last + 1, len(generated)):
        own = generated[i]
        if own.opname == broken.opname and own.positions is not None and own.positions == broken.positions:
            return i
    return None


def _names_of_values(ending: Ending) -> dict[int, str]:
    return {id(value): name for frame in ending.frames for name, value in frame.values()}


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
