"""Read which locals each line of a function assigns."""

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
