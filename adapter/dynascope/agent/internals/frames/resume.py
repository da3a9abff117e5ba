"""Read resume functions: the code Dynamo generates for the rest of a function after a graph break."""

from __future__ import annotations

import dis
import re
import sys
import types
from collections.abc import Iterable
from typing import Any

from dynascope.agent.internals.frames.translators import Translator
from dynascope.explain.problem import named, shown_function

_RESUMES_AT = re.compile(r"torch_dynamo_resume_in_.*_at_(\d+)$")
_GO_ELSEWHERE = ("JUMP_FORWARD", "JUMP_BACKWARD", "RETURN_", "RAISE_VARARGS", "RERAISE")


def original_code(code: types.CodeType) -> types.CodeType:
    """Return the function a resume function continues, or `code` itself.

    Reads `resume_execution.ContinueExecutionCache.generated_code_metadata` (2.0; by identity, weakly).
    """
    resume_execution: Any = sys.modules["torch._dynamo.resume_execution"]
    metadata = resume_execution.ContinueExecutionCache.generated_code_metadata
    while code in metadata:
        code = metadata[code].code
    return code


def is_resume_function(code: types.CodeType) -> bool:
    """Whether this code continues after a graph break (`ContinueExecutionCache`, 2.0)."""
    return original_code(code) is not code


def made_from(code: types.CodeType) -> types.CodeType | None:
    """Return the user's function from which Dynamo made `code`; None for the user's own.

    Reads `convert_frame.output_codes` (2.0) and `orig_code_map` (2.1).
    """
    convert_frame: Any = sys.modules.get("torch._dynamo.convert_frame")
    if not hasattr(convert_frame, "output_codes"):  # it may be in the middle of its import
        return None
    before = convert_frame.orig_code_map.get(code) if code in convert_frame.output_codes else code
    original = None if before is None else original_code(before)
    return None if original is code else original


def line_of_break(code: types.CodeType) -> int | None:
    """Return the line of the graph break after which code continues; None for other code."""
    match = _RESUMES_AT.match(code.co_name)
    return None if match is None else int(match[1])


def name_of(code: types.CodeType) -> str:
    """Return the name of a function, or of the part that a resume function runs, for users."""
    return named(original_code(code).co_qualname, line_of_break(code))


def frame_name(code: types.CodeType) -> str:
    """Return the name of a function that Dynamo traces, with its class: `Attention.forward`."""
    return shown_function(original_code(code).co_qualname)


def compile_name(code: types.CodeType, compile_id: str) -> str:
    """Return the name of a compile of a function: `Attention.forward [0/1]`."""
    return f"{frame_name(code)} [{compile_id}]"


def runtime_name(code: types.CodeType) -> str | None:
    """Return the name to show for a frame of code that Dynamo made; None for the user's own."""
    original = made_from(code)
    if original is None:
        return None
    line = line_of_break(code)
    return f"{original.co_name} ({'generated code' if line is None else f'resume function after line {line}'})"


def runs_line_as_written(code: types.CodeType, offset: int) -> bool:
    """Whether the line at `offset` of running code is the user's from its beginning.

    Code that Dynamo generated begins the line of a graph break in its middle, with values of the graph.
    """
    original = made_from(code)
    if original is None:
        return True
    here = next((each for each in dis.get_instructions(code) if each.offset == offset), None)
    if here is None or here.positions is None:
        return True
    return _place(here) in _first_instructions(original)


def continuations(code: types.CodeType) -> list[types.CodeType]:
    """Return the resume functions made from `code` so far (`ContinueExecutionCache.cache`, 2.0)."""
    resume_execution: Any = sys.modules["torch._dynamo.resume_execution"]
    made = resume_execution.ContinueExecutionCache.cache
    return list(made[code].values()) if code in made else []


def lines_begun(code: types.CodeType) -> set[int]:
    """Return the original's lines that can begin in this resume function, without the break's.

    The resume function contains all of the original's instructions, and begins with a jump to the first one to run.
    """
    firsts = {place[1:] for place in _first_instructions(original_code(code)) if place is not None}
    return {
        at.lineno
        for each in _reachable(code)
        if (at := each.positions) is not None and at.lineno is not None and tuple(at) in firsts
    }


def runs_as_written(code: types.CodeType, original: types.CodeType) -> bool:
    """Whether code that Dynamo generated from `original` runs lines of it itself."""
    return bool(lines_as_written(code, original))


def lines_as_written(code: types.CodeType, original: types.CodeType) -> set[int]:
    """Return the lines of `original` that code that Dynamo generated from it runs itself.

    After a graph break that it cannot resume from, Dynamo runs the rest of the function uncompiled, in the code that
    calls the graph so far (`InstructionTranslatorBase.step_graph_break`, 2.0), and makes no resume function.
    """
    firsts = _first_instructions(original_code(original))
    return {
        at.lineno
        for each in dis.get_instructions(code)
        if each.opname != "RESUME"
        and (at := each.positions) is not None
        and at.lineno is not None
        and _place(each) in firsts
    }


def line_has_run(code: types.CodeType, offset: int) -> bool:
    """Whether the line at `offset` of this running code ran before the break it continues after.

    A resume function, and the code Dynamo generates from it (`convert_frame.orig_code_map`, 2.1), begin on the line of
    the graph break (`resume_execution.TORCH_DYNAMO_RESUME_IN_PREFIX`, 2.1); the instructions that only resume have no
    columns. The line is there once more where its rest breaks again, or where a loop has led to it.
    """
    resume_execution: Any = sys.modules.get("torch._dynamo.resume_execution")
    if resume_execution is None or not code.co_name.startswith(resume_execution.TORCH_DYNAMO_RESUME_IN_PREFIX):
        return False
    instructions = [each for each in dis.get_instructions(code) if each.positions is not None]
    here = next((each.positions for each in instructions if each.offset == offset), None)
    if here is None or here.col_offset is not None:
        return False
    if is_resume_function(code):
        return True
    others = (each.positions for each in instructions)
    if not any(each.lineno == here.lineno and each.col_offset is not None for each in others if each is not None):
        return True
    convert_frame: Any = sys.modules["torch._dynamo.convert_frame"]
    made_of = convert_frame.orig_code_map.get(code)
    return made_of is not None and not _comes_again(made_of, here.lineno)


def _comes_again(code: types.CodeType, line: int | None) -> bool:
    """Whether a loop leads a resume function from the break to the beginning of its line."""
    first = None if line is None else first_places(original_code(code)).get(line)
    return any(is_at(each, first) for each in _reachable(code))


def _reachable(code: types.CodeType) -> list[dis.Instruction]:
    instructions = list(dis.get_instructions(code))
    at_offset = {each.offset: i for i, each in enumerate(instructions)}
    handlers: Any = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    seen: set[int] = set()
    waiting = [0]
    while waiting:
        i = waiting.pop()
        if i in seen or i == len(instructions):
            continue
        seen.add(i)
        now = instructions[i]
        if now.opcode in dis.hasjrel or now.opcode in dis.hasjabs:
            waiting.append(at_offset[now.argval])
        if not now.opname.startswith(_GO_ELSEWHERE):
            waiting.append(i + 1)
        waiting += [at_offset[each.target] for each in handlers if each.start <= now.offset < each.end]
    return [instructions[i] for i in sorted(seen)]


def begins_a_line(instruction: Any, code: types.CodeType) -> bool:
    """Whether a resume function's instruction is the first of a line of `code`, its original."""
    place = _place(instruction)
    return place is None or place in _first_instructions(code)


def _first_instructions(code: types.CodeType) -> set[Place | None]:
    found: set[Place | None] = set()
    line = None
    for instruction in dis.get_instructions(code):
        at = instruction.positions
        if at is not None and at.lineno is not None and at.lineno != line:
            line = at.lineno
            found.add(_place(instruction))
    return found


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


Place = tuple[str, int | None, int | None, int | None, int | None]
"""The name of an instruction, and from where to where its source goes: line, last line, column, last column."""


def first_places(code: types.CodeType) -> dict[int, Place]:
    """Return the place of the first instruction of each line.

    A line begins as written with one instruction, and statements return to it with others. Dynamo keeps an
    instruction's `positions`, but no offset: it is identified by its name and its positions in the source.
    """
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
    return None if instruction.positions is None else (instruction.opname, *instruction.positions)
