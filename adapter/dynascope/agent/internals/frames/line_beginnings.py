"""Tell the instruction with which a line begins as written from those with which a statement returns to it.

Dynamo keeps an instruction's `positions` (`bytecode_transformation.Instruction`, 2.0), but no offset: it is identified
by its name and its positions in the source.
"""

from __future__ import annotations

import dis
import types
from typing import Any

Place = tuple[str, int | None, int | None, int | None, int | None]
"""The name of an instruction, and from where to where its source goes: line, last line, column, last column."""


def first_places(code: types.CodeType) -> dict[int, Place]:
    """Return the place of the first instruction of each line."""
    found: dict[int, Place] = {}
    for each in dis.get_instructions(code):
        place = _place(each)
        if place is not None and place[1] is not None:
            found.setdefault(place[1], place)
    return found


def is_at(instruction: Any, first: Place | None) -> bool:
    """Whether this is an instruction of a first place, or a copy of it."""
    place = _place(instruction)
    if place is None or first is None:
        return False
    # Dynamo splits instructions such as LOAD_FAST_LOAD_FAST in two
    return place[1:] == first[1:] and first[0].startswith(place[0])


def _place(instruction: Any) -> Place | None:
    at = instruction.positions
    if at is None:
        return None
    return instruction.opname, at.lineno, at.end_lineno, at.col_offset, at.end_col_offset
