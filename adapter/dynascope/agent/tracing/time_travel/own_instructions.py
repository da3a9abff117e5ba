"""Find in the trail of an attempt where the instructions and lines of a frame are that is still being traced."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.internals.frames import instructions, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.activation import Lines
from dynascope.agent.tracing.stepping import FrameId
from dynascope.agent.tracing.trail import Position, Trail


def own_instructions(
    trail: Trail, frame: FrameId, translator: Translator, restored_at: Position
) -> Iterator[tuple[Position, bool]]:
    """Yield the position of each instruction of the function, and whether it begins a line.

    Oldest first, without its prologue. `restored_at`: the position up to which a resume function restores the stack.
    """
    traced = instructions.instructions_of(translator)
    lines = Lines(translators.code_of(translator))
    for position, index in trail.instructions_of(frame):
        instruction = traced[index]
        begins = lines.advance(instruction, index, instructions.line_of(instruction), position <= restored_at)
        if not lines.in_prologue:
            yield position, begins
