"""Find among the instructions of an attempt where lines began, also in frames that Dynamo has left."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Any

from dynascope.agent.internals.frames import instructions, translators
from dynascope.agent.internals.frames.resume import frame_name, line_of_break
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.source_lines import own_lines
from dynascope.agent.program.user_code import real_path
from dynascope.agent.tape.instructions import FrameId, Position, TracedInstructions
from dynascope.agent.tracing.activation import Lines


def latest_beginning(
    traced: TracedInstructions, path: str, line: int, before: Position, restored_at: Position
) -> tuple[Position, str] | None:
    """Return the latest position before `before` at which a line began, or None.

    With it comes the name of the function. `path` is a real path.
    `restored_at`: the position up to which a resume function restores the stack.
    """
    listed: dict[int, list[Any]] = {}
    frames: dict[FrameId, _Frame] = {}
    for frame, code in traced.codes.items():
        if real_path(code.co_filename) == path and line in own_lines(code):
            if id(code) not in listed:
                listed[id(code)] = instructions.instructions_of_code(code)
            frames[frame] = _Frame(code, listed[id(code)])
    found = None
    for position, index, frame in traced.instructions_in(frames):
        if position >= before:
            break
        if frames[frame].begins(index, position <= restored_at) == line:
            found = position, frame_name(frames[frame].lines.original)
    return found


def may_come(codes: Iterable[types.CodeType], path: str, line: int) -> bool:
    """Whether a line is one of these functions', and not before the break where they go on."""
    own = (code for code in codes if line > (line_of_break(code) or 0) and real_path(code.co_filename) == path)
    return any(line in own_lines(code) for code in own)


def own_instructions(
    traced: TracedInstructions, frame: FrameId, translator: Translator, restored_at: Position
) -> Iterator[tuple[Position, bool]]:
    """Yield the position of each instruction of the function, and whether it begins a line.

    Oldest first, without its prologue. `restored_at`: the position up to which a resume function restores the stack.
    """
    listed = instructions.instructions_of(translator)
    lines = Lines(translators.code_of(translator))
    for position, index, _ in traced.instructions_in((frame,)):
        instruction = listed[index]
        begins = lines.advance(instruction, index, instructions.line_of(instruction), position <= restored_at)
        if not lines.in_prologue:
            yield position, begins


class _Frame:
    def __init__(self, code: types.CodeType, listed: list[Any]) -> None:
        self.lines = Lines(code)
        self._listed = listed

    def begins(self, index: int, is_restoring: bool) -> int | None:
        """Return the line that begins with this instruction, or None."""
        instruction = self._listed[index]
        line = instructions.line_of(instruction)
        begins = self.lines.advance(instruction, index, line, is_restoring)
        return line if begins and not self.lines.comes_back else None
