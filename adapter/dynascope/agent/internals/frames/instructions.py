"""List the instructions Dynamo traces: its own cleaned and rewritten list, not the code object's that `dis` shows."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from dynascope.agent.internals.frames.translators import Translator

CALLS = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX", "CALL_METHOD", "CALL_FUNCTION", "CALL_FUNCTION_KW"})
_TEXT_LIMIT = 40
_PUSHES_NULL = {"LOAD_GLOBAL": "NULL + ", "LOAD_ATTR": "NULL|self + "}
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT")
_BINARY: Any = getattr(dis, "_nb_ops", ())


class Instruction(Struct, frozen=True):
    """One row of a listing; `target` is the index that it jumps to."""

    opname: str
    argument: str
    target: int | None
    line: int | None
    end_line: int | None
    column: int | None
    """Both columns count UTF-8 bytes from 0, as code objects do."""
    end_column: int | None
    effect: int | None
    """The change of the stack's depth when it does not jump; None where that is unknown."""
    depth: int | None
    """The stack's depth after it; None for an instruction that is never reached."""
    offset: int
    """Where it is in running code."""


def instructions_of(translator: Translator) -> tuple[Any, ...]:
    """Return a copy: Dynamo changes the outermost frame's list at its end (`instructions`, 2.0)."""
    return tuple(translator.instructions)


def instructions_of_code(code: types.CodeType) -> list[Any]:
    """Return new instructions, as of a frame of this code (`bytecode_transformation`, 2.0)."""
    transformation: Any = sys.modules["torch._dynamo.bytecode_transformation"]
    instructions: list[Any] = transformation.cleaned_instructions(code, False)
    transformation.propagate_line_nums(instructions)
    return instructions


def line_of(instruction: Any) -> int:
    """Return the line that Dynamo gives an instruction (`Instruction.starts_line`, 2.0)."""
    return int(instruction.starts_line)


def has_line(instruction: Any) -> bool:
    """Whether an instruction has a line in the program (`Instruction.positions`, 2.0).

    Python 3.11 gives none to the jump back at the end of a loop's body, and Dynamo gives it the line in front of it,
    where the jump also comes from elsewhere: from an `if` that is not taken.
    """
    positions = instruction.positions
    return positions is None or positions.lineno is not None


def described(instructions: Sequence[Any]) -> list[Instruction]:
    """Return rows of plain attributes of Dynamo's `bytecode_transformation.Instruction` (2.0)."""
    index = {id(each): at for at, each in enumerate(instructions)}
    depths = _depths(instructions, index)
    rows = []
    for at, each in enumerate(instructions):
        place, effect = each.positions, _effect(each, False)
        before = depths.get(at)
        rows.append(
            Instruction(
                opname=each.opname,
                argument="" if each.target is not None else _argument(each),
                target=None if each.target is None else index.get(id(each.target)),
                line=each.starts_line if place is None or place.lineno is None else place.lineno,
                end_line=place and place.end_lineno,
                column=place and place.col_offset,
                end_column=place and place.end_col_offset,
                effect=effect,
                depth=None if before is None or effect is None else before + effect,
                offset=-1 if each.offset is None else each.offset,
            )
        )
    return rows


def places_in_original(resumed: Sequence[Any], original: Sequence[Any]) -> dict[int, int]:
    """Map indexes in a resume function to indexes in the function it continues.

    The resume function ends with every instruction of that function. Dynamo keeps `positions` (2.0) but no offsets: the
    n-th last instruction with a name and position in one is the n-th last in the other.
    """
    found = {(name, place, number): at for name, place, number, at in _numbered(original)}
    return {
        at: found[name, place, number]
        for name, place, number, at in _numbered(resumed)
        if (name, place, number) in found
    }


def _numbered(instructions: Sequence[Any]) -> list[tuple[str, Any, int, int]]:
    seen: dict[tuple[str, Any], int] = {}
    rows = []
    for at in range(len(instructions) - 1, -1, -1):
        each = instructions[at]
        if each.positions is not None and each.positions.lineno is not None:
            key = each.opname, tuple(each.positions)
            seen[key] = seen.get(key, 0) + 1
            rows.append((*key, seen[key], at))
    return rows


def _effect(instruction: Any, jumps: bool) -> int | None:
    argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
    if argument is None and instruction.target is not None:
        argument = 0
    try:
        return dis.stack_effect(instruction.opcode, argument, jump=jumps)
    except (ValueError, TypeError, SystemError):
        return None


def _depths(instructions: Sequence[Any], index: dict[int, int]) -> dict[int, int]:
    """Return the stack's depth before each instruction that is reachable."""
    depths: dict[int, int] = {}
    waiting = [(0, 0)] if instructions else []
    while waiting:
        at, depth = waiting.pop()
        if at in depths or at >= len(instructions):
            continue
        depths[at] = depth
        each = instructions[at]
        entry = each.exn_tab_entry
        if entry is not None and id(entry.target) in index:
            waiting.append((index[id(entry.target)], entry.depth + 1 + bool(entry.lasti)))
        if each.target is not None and (jumped := _effect(each, True)) is not None and id(each.target) in index:
            waiting.append((index[id(each.target)], depth + jumped))
        goes_on = not each.opname.startswith(("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE", *_ENDS))
        if goes_on and (effect := _effect(each, False)) is not None:
            waiting.append((at + 1, depth + effect))
    return depths


def _argument(instruction: Any) -> str:
    opname, value = instruction.opname, instruction.argval
    if opname == "BINARY_OP" and type(instruction.arg) is int and instruction.arg < len(_BINARY):
        return str(_BINARY[instruction.arg][1])
    if opname == "KW_NAMES" or instruction.opcode in dis.hasconst:
        return constant_text(value)
    if type(value) is str:
        pushes_null = type(instruction.arg) is int and instruction.arg & 1
        return (_PUSHES_NULL.get(opname, "") if pushes_null else "") + value
    if type(value) is tuple and all(type(each) is str for each in value):
        return ", ".join(value)
    if instruction.opcode < dis.HAVE_ARGUMENT:
        return ""
    return str(value) if type(value) is int else "" if instruction.arg is None else str(instruction.arg)


def constant_text(value: object) -> str:
    """Return a short text of a code object's constant; for an object of another type, its type."""
    if type(value) in (type(None), bool, float, complex, types.EllipsisType):
        return repr(value)
    if type(value) is int:
        return repr(value) if value.bit_length() < 128 else f"<int of {value.bit_length()} bits>"
    if type(value) in (str, bytes):
        text = repr(value[:_TEXT_LIMIT])  # type: ignore[index]
        return text if len(value) <= _TEXT_LIMIT else f"{text}…"  # type: ignore[arg-type]
    if type(value) in (tuple, frozenset):
        parts = []
        for each in value:  # type: ignore[attr-defined]
            parts.append(constant_text(each))
            if sum(map(len, parts)) > _TEXT_LIMIT:
                parts.append("…")
                break
        inside = ", ".join(parts)
        return f"({inside})" if type(value) is tuple else f"frozenset({{{inside}}})"
    if isinstance(value, types.CodeType):
        return f"<code {value.co_qualname}, line {value.co_firstlineno}>"
    return f"<{type(value).__name__}>"
