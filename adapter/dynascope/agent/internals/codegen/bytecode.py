"""Write code that Dynamo generated as `dis` shows it, without calling a method of the program's objects."""

from __future__ import annotations

import dis
import io
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.frames.instructions import Instruction, constant_text, described
from dynascope.facts.generated.model import CODE_KEPT, Bytecode


class _Shown:
    """A stand-in for a constant: its `repr` is the constant's text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def listing(code: types.CodeType) -> str:
    """Return a listing below a line that names the code.

    Constants may be any object of the program, such as the globals of a nested function that is made again
    (`NestedUserFunctionVariable.reconstruct`, 2.0).
    """
    text = io.StringIO()
    text.write(f"{code.co_qualname}, from {code.co_filename}:{code.co_firstlineno}\n\n")
    dis.dis(_shown(code), file=text, depth=1)
    return text.getvalue()


@dataclass(eq=False, slots=True)
class _Running:
    """An instruction of a code object, with the attributes of Dynamo's `Instruction` (2.0)."""

    opcode: int
    opname: str
    arg: int | None
    argval: object
    offset: int
    positions: Any
    target: _Running | None = None
    exn_tab_entry: _Handler | None = None
    starts_line: None = None


@dataclass(eq=False, slots=True)
class _Handler:
    target: _Running
    depth: int
    lasti: bool


def running_instructions(code: types.CodeType) -> list[Instruction]:
    """Return the instructions as they run, without the prefixes of their arguments."""
    running = list(_running(code))
    at = {offset: each for each, first in running for offset in range(first, each.offset + 1, 2)}
    handlers: Any = dis.Bytecode(_shown(code)).exception_entries  # type: ignore[attr-defined]
    for each, _ in running:
        if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
            each.target = at.get(each.argval)  # type: ignore[call-overload]
        for handler in handlers:
            if handler.start <= each.offset < handler.end:
                each.exn_tab_entry = _Handler(at[handler.target], handler.depth, handler.lasti)
    return described([each for each, _ in running])


NULL = object()
"""Stands for an operand that is no object."""


def value_stack(frame: types.FrameType, depth: int) -> list[object] | None:
    """Return the `depth` operands of a running frame of generated code.

    Calls `torch._C._dynamo.eval_frame._get_frame_value_stack_with_depth` (2.12); None where torch lacks it.
    """
    eval_frame: Any = sys.modules["torch"]._C._dynamo.eval_frame
    read = getattr(eval_frame, "_get_frame_value_stack_with_depth", None)
    if read is None or not 0 <= depth <= frame.f_code.co_stacksize:
        return None
    return [NULL if each is eval_frame.NULL_STACK_VALUE else each for each in read(frame, depth)]


def _running(code: types.CodeType) -> Iterator[tuple[_Running, int]]:
    """Yield each instruction, and the offset where it begins with the prefixes of its argument."""
    first = None
    for each in dis.get_instructions(_shown(code)):
        first = each.offset if first is None else first
        if each.opcode == dis.EXTENDED_ARG:
            continue
        is_constant = each.arg is not None and (each.opcode in dis.hasconst or each.opname == "KW_NAMES")
        value = code.co_consts[each.arg or 0] if is_constant else each.argval
        yield _Running(each.opcode, each.opname, each.arg, value, each.offset, each.positions), first
        first = None


def bytecode_of(code: types.CodeType) -> Bytecode:
    """Return generated code (`GuardedCode.code`, 2.0) as a fact."""
    text = listing(code)
    return Bytecode(text[:CODE_KEPT], max(0, len(text) - CODE_KEPT))


def _shown(code: types.CodeType) -> types.CodeType:
    return code.replace(co_consts=tuple(map(_stand_in, code.co_consts)))


def _stand_in(constant: object) -> object:
    return _shown(constant) if type(constant) is types.CodeType else _Shown(constant_text(constant))
