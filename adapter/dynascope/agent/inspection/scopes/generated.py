"""The instructions around a graph that has ended, in groups: what each of them makes."""

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
_HANDS_OVER = "hands the values over"
_ITSELF = "the instruction that breaks"
_GOES_ON = "goes on"
_RETURNS = "returns"


def instruction_rows(made: list[Any], ending: Ending, names: ValueNames) -> list[Row]:
    """A row for each group, with its instructions below, numbered from the function's first."""
    told = described(made)
    labels = _labels(made, ending, names)
    rows = []
    for (_, label), group in groupby(range(len(made)), key=lambda i: labels[i]):
        indices = list(group)
        children = Children(named=fixed([Row(str(i), _text(told[i]), hint=VIRTUAL) for i in indices]))
        first = told[indices[0]].opname
        count = f"{first}, {len(indices)} instructions" if len(indices) > 1 else first
        rows.append(Row(label, count, children=children, hint=VIRTUAL))
    return rows


def _labels(made: list[Any], ending: Ending, names: ValueNames) -> list[tuple[int, str]]:
    """By instruction: a number, which is another for the next group of the same name, and the group's name."""
    known = {id(each): (-1, _CALL) for each in ending.call}
    value_names = _names_of_values(ending)
    for number, part in enumerate(ending.parts()):
        label = _label(part, value_names, names)
        known |= {id(each): (number, label) for each in part.instructions}
    at = [i for i, each in enumerate(made) if id(each) in known]
    first, last = (at[0], at[-1]) if at else (len(made), -1)
    behind = _HANDS_OVER if ending.is_break else _RETURNS
    between = [_BEFORE if i < first else _KEEPS if i < last else behind for i in range(len(made))]
    found = [known.get(id(each), (-2, between[i])) for i, each in enumerate(made)]
    own = _own_instruction(made, last, ending)
    if own is not None:
        found[own] = -3, _ITSELF
        for i in range(own + 1, len(made)):
            found[i] = -4, _GOES_ON
    return found


def _own_instruction(made: list[Any], last: int, ending: Ending) -> int | None:
    """Where the user's instruction stands that Dynamo breaks at: it has kept its place in the source."""
    if not ending.is_break:
        return None
    broken = instruction(ending.frames[-1].translator)
    for i in range(last + 1, len(made)):
        each = made[i]
        if each.opname == broken.opname and each.positions is not None and each.positions == broken.positions:
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
