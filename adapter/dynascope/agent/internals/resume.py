"""Resume functions: the code Dynamo generates for what follows a graph break, and the function it came from."""

from __future__ import annotations

import dis
import sys
import types
from typing import Any


def original_code(code: types.CodeType) -> types.CodeType:
    """The function a resume function continues, or `code` itself.

    Reads `resume_execution.ContinueExecutionCache.generated_code_metadata` (2.0; by identity, weakly).
    """
    resume_execution: Any = sys.modules["torch._dynamo.resume_execution"]
    metadata = resume_execution.ContinueExecutionCache.generated_code_metadata
    while code in metadata:
        code = metadata[code].code
    return code


def is_resume_function(code: types.CodeType) -> bool:
    """Whether Dynamo generated this code to go on after a graph break (`ContinueExecutionCache`, 2.0)."""
    return original_code(code) is not code


def begins_a_line(instruction: Any, code: types.CodeType) -> bool:
    """Whether a resume function's instruction is the first of a line of `code`, the function it continues.

    Dynamo keeps an instruction's `positions` (`bytecode_transformation.Instruction`, 2.0), but no offset: it is known
    by its name and its place in the source.
    """
    positions = instruction.positions
    if positions is None:
        return True
    place = instruction.opname, positions.lineno, positions.end_lineno, positions.col_offset, positions.end_col_offset
    return place in _first_instructions(code)


def _first_instructions(code: types.CodeType) -> set[tuple[Any, ...]]:
    found, line = set(), None
    for instruction in dis.get_instructions(code):
        at = instruction.positions
        if at is not None and at.lineno is not None and at.lineno != line:
            line = at.lineno
            found.add((instruction.opname, at.lineno, at.end_lineno, at.col_offset, at.end_col_offset))
    return found
