"""Read the frames that Dynamo is tracing, and the local variables of Python's own."""

from __future__ import annotations

import ctypes
import inspect
import sys
import types
from typing import Any

Translator = Any
"""An `InstructionTranslatorBase` of torch._dynamo.symbolic_convert."""


def is_translator(frame: object) -> bool:
    """Whether it is a frame being traced (`InstructionTranslatorBase`, 2.0), not one that runs."""
    return not isinstance(frame, types.FrameType)


def active_translators(translator: Translator) -> list[Translator]:
    """Return the frames being traced now, outermost first (`OutputGraph._current_tx`, 2.10).

    `parent` would name a generator's creator, not its consumer.
    """
    return list(translator.output._current_tx)


def is_outermost(translator: Translator) -> bool:
    """Whether this is the frame being compiled, just entered, not inlined (`_current_tx`, 2.10)."""
    return len(translator.output._current_tx) == 1


def output_of(translator: Translator) -> Any:
    """Return the graph of the frame's attempt (`InstructionTranslatorBase.output`, 2.0)."""
    return translator.output


def globals_of(translator: Translator) -> dict[str, Any]:
    """Return the real globals of the frame (`f_globals`, 2.0)."""
    names: dict[str, Any] = translator.f_globals
    return names


def traced_codes(translator: Translator) -> list[types.CodeType]:
    """Return the code traced in this attempt, also inlined (`TracingContext.traced_code`, 2.7)."""
    return list(getattr(translator.output.tracing_context, "traced_code", ()))


def code_of(translator: Translator) -> types.CodeType:
    """Return the frame's code object (`InstructionTranslatorBase.f_code`, 2.0)."""
    code: types.CodeType = translator.f_code
    return code


def line_of(translator: Translator) -> int:
    """Return the line being traced (`lineno`, 2.0); the function's first where Dynamo has -1."""
    line = translator.lineno
    return int(line) if line and line > 0 else int(translator.f_code.co_firstlineno)


def instruction_index(translator: Translator) -> int:
    """Return the next instruction's index: `instruction_pointer` (2.0) already points past it."""
    pointer = translator.instruction_pointer
    return -1 if pointer is None else int(pointer) - 1


def current_index(translator: Translator) -> int:
    """Return the index of `current_instruction` (2.0), also where the frame's graph has ended."""
    index = instruction_index(translator)
    if index >= 0 or translator.instruction_pointer is not None:
        return index
    now = translator.current_instruction
    return next((i for i, each in enumerate(translator.instructions) if each is now), -1)


def instruction(translator: Translator) -> Any:
    """Return the next instruction: `opname`, `positions` … (`current_instruction`, 2.0)."""
    return translator.current_instruction


def in_resume_prologue(translator: Translator) -> bool:
    """Whether a resume function still restores its stack (`is_tracing_resume_prologue`, 2.7)."""
    return bool(translator.is_tracing_resume_prologue)


_OWN_REFERENCES = 3
"""To a frame's dict of locals, in `locals_of`: the frame's, the name's and that of the call of `getrefcount`."""


def locals_of(frame: types.FrameType) -> dict[str, Any]:
    """Return a copy of a frame's local variables, none of which lives longer for it.

    Before 3.13 Python keeps the dict that it makes for `f_locals` with the frame, and so what is in it after the
    function has dropped it. Where the program has that dict, from `locals()`, it is left as it is.
    """
    kept: Any = frame.f_locals
    values, code = dict(kept), frame.f_code
    if type(kept) is dict and code.co_flags & inspect.CO_OPTIMIZED and sys.getrefcount(kept) <= _OWN_REFERENCES:
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            kept.pop(name, None)
        # else, after a trace function of the frame, Python would delete the variables that are not in the dict
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    return values
