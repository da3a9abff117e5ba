"""Read of the lines of a function which locals each assigns, and where each begins.

A line begins as written with one instruction, and statements return to it with others. Dynamo keeps an instruction's
`positions` (`bytecode_transformation.Instruction`, 2.0), but no offset: it is identified by its name and its positions
in the source.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterable
from typing import Any

from dynascope.agent.internals.frames.translators import Translator


def is_fresh(translator: Translator) -> bool:
    """Whether no instruction is traced (`InstructionTranslatorBase.instruction_pointer`, 2.0)."""
    pointer = translator.instruction_pointer
    return pointer is None or pointer == 0


def names_stored(translator: Translator) -> dict[int, tuple[str, ...]]:
    """Return assigned locals by line, far faster than with `dis` (`instructions`, 2.0)."""
    lines = ((instruction, instruction.starts_line) for instruction in translator.instructions)
    return _by_line(lines, translator.f_code.co_firstlineno)


def names_stored_by(code: types.CodeType) -> dict[int, tuple[str, ...]]:
    """Return the locals that each line of a function assigns, from its bytecode."""
    instructions = dis.get_instructions(code)
    lines = ((each, each.positions.lineno if each.positions is not None else None) for each in instructions)
    return _by_line(lines, code.co_firstlineno)


def _by_line(instructions: Iterable[tuple[Any, int | None]], line: int) -> dict[int, tuple[str, ...]]:
    found: dict[int, dict[str, None]] = {}
    for instruction, begins in instructions:
        if begins:
            line = begins
        opname = instruction.opname
        if opname.startswith("STORE_") and opname.startswith(("STORE_FAST", "STORE_DEREF")):
            value = instruction.argval
            if type(value) is tuple:
                value = value[:1] if "LOAD" in opname else value
                found.setdefault(line, {}).update(dict.fromkeys(value))
            else:
                found.setdefault(line, {})[value] = None
    return {at: tuple(names) for at, names in found.items()}


def parameter_names(translator: Translator) -> tuple[str, ...]:
    """Return parameters, also `*args` and `**kwargs` (`InstructionTranslatorBase.f_code`, 2.0)."""
    code = translator.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return tuple(code.co_varnames[:count])


def local(translator: Translator, name: str) -> Any | None:
    """Return a local's variable (`InstructionTranslatorBase.symbolic_locals`, 2.0), or None."""
    return translator.symbolic_locals.get(name)


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
