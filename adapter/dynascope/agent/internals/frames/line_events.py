"""Every line of every frame Dynamo traces, for whoever records it, beside a debugger that watches some of them."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterable
from typing import Any

from dynascope.agent.internals.frames.translators import Translator


class LineEvents:
    """Wraps `InstructionTranslatorBase.starts_line` (2.10) on the class: `begins(translator, line)` before each line.

    Dynamo calls it for each instruction; like its own, the wrapper returns at once while the line stays the same. A
    frame that `tracing.watch` watches gets here too, through `tracing.note_line`.
    """

    def __init__(self, begins: Callable[[Translator, int], None]) -> None:
        from torch._dynamo import symbolic_convert

        translator_class: Any = symbolic_convert.InstructionTranslatorBase
        original = translator_class.starts_line

        def starts_line(self: Any, lineno: int) -> None:
            if self.lineno == lineno:
                return
            begins(self, lineno)
            original(self, lineno)

        translator_class.starts_line = starts_line
        self._class, self._wrapper, self._original = translator_class, starts_line, original

    def remove(self) -> None:
        """Take the wrapper out; if somebody else has wrapped it since it stays, and passes calls on."""
        if self._class.starts_line is self._wrapper:
            self._class.starts_line = self._original


def is_fresh(translator: Translator) -> bool:
    """Whether none of its instructions has been traced (`InstructionTranslatorBase.instruction_pointer`, 2.0)."""
    pointer = translator.instruction_pointer
    return pointer is None or pointer == 0


def names_stored(translator: Translator) -> dict[int, tuple[str, ...]]:
    """Which locals each line assigns (`InstructionTranslatorBase.instructions`, 2.0): far cheaper than `dis`."""
    lines = ((instruction, instruction.starts_line) for instruction in translator.instructions)
    return _by_line(lines, translator.f_code.co_firstlineno)


def names_stored_by(code: types.CodeType) -> dict[int, tuple[str, ...]]:
    """Which locals each line of a function assigns, from its bytecode."""
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
    """Parameters of the function under trace, `*args` and `**kwargs` too (`InstructionTranslatorBase.f_code`, 2.0)."""
    code = translator.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return tuple(code.co_varnames[:count])


def local(translator: Translator, name: str) -> Any | None:
    """The variable of a local (`InstructionTranslatorBase.symbolic_locals`, 2.0), or None."""
    return translator.symbolic_locals.get(name)
