"""Know the code that Dynamo has generated, what from and which of it has no hash; write it as `dis` shows code.

No method of the objects of the program is called, which are among the constants of code.
"""

from __future__ import annotations

import dis
import io
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.frames.instructions import Instruction, constant_text, described
from dynascope.facts.generated.model import CODE_KEPT, Bytecode


class NewGeneratedCode:
    """Examine each generated code object once."""

    def __init__(self) -> None:
        self._seen = 0

    def new_unhashable(self) -> types.CodeType | None:
        """Return the first unhashable code since the last call (`convert_frame.output_codes`, 2.0).

        Dynamo puts a function's globals among the constants of code that makes a nested function or class again
        (`NestedUserFunctionVariable.reconstruct`, 2.0), and a code object is hashed with its constants.
        """
        seen = sys.modules["torch._dynamo.convert_frame"].output_codes.seen
        if len(seen) < self._seen:  # torch._dynamo.reset()
            self._seen = 0
        new, self._seen = seen[self._seen :], len(seen)
        codes = (reference() for reference in new)
        return next((code for code in codes if code is not None and not is_hashable(code)), None)


def is_hashable(code: types.CodeType) -> bool:
    """Whether `code` has a hash; what `NestedUserFunctionVariable` (2.0) makes again has none."""
    try:
        hash(code)
    except TypeError:
        return False
    return True


def waits_for_compile_lock(frame: types.FrameType | None) -> bool:
    """Whether a thread whose innermost frame is `frame` waits to compile.

    `CatchErrorsWrapper.__call__` (2.1) takes `convert_frame.compile_lock` (2.0), for one compile at a time.
    """
    if frame is None:
        return False
    code = frame.f_code
    return code.co_name == "__call__" and code.co_filename == sys.modules["torch._dynamo.convert_frame"].__file__


def is_generated(code: types.CodeType) -> bool:
    """Whether Dynamo generated this code (`convert_frame.output_codes`, 2.0)."""
    convert_frame: Any = sys.modules["torch._dynamo.convert_frame"]
    return code in convert_frame.output_codes


def compiled_from(code: types.CodeType) -> types.CodeType:
    """Return the original of generated code (`convert_frame.orig_code_map`, 2.1), or `code`."""
    convert_frame: Any = sys.modules["torch._dynamo.convert_frame"]
    original: types.CodeType = convert_frame.orig_code_map.get(code, code)
    return original


def why_file_is_skipped(path: str) -> str | None:
    """Return why Dynamo traces no code of this file, neither as a frame nor inlined, or None.

    Reads `trace_rules.check_file` (2.0), which uses only the path as the file was imported. None if not imported.
    """
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    check = getattr(rules, "check_file", None)
    if check is None:
        return None
    path = _as_imported(path, rules.__file__)
    inlined = check(path, is_inlined_call=True)
    return inlined.reason if check(path).skipped and inlined.skipped else None


def _as_imported(path: str, file_of_torch: str) -> str:
    """Return `path` below the packages of `file_of_torch`, if symbolic links lead there."""
    packages = file_of_torch[: file_of_torch.rindex(f"{os.sep}torch{os.sep}")]
    real = os.path.realpath(packages) + os.sep
    return os.path.join(packages, path[len(real) :]) if path.startswith(real) else path


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
