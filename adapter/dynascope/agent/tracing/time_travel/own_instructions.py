"""Find the instructions and lines of a frame that is still being traced among those of its attempt."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.internals.frames import instructions, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tape.instructions import FrameId, Position, TracedInstructions
from dynascope.agent.tracing.activation import Lines


def own_instructions(
    traced: TracedInstructions, frame: FrameId, translator: Translator, restored_at: Position
) -> Iterator[tuple[Position, bool]]:
    """Yield the position of each instruction of the function, and whether it begins a line.

    Oldest first, without its prologue. `restored_at`: the position up to which a resume function restores the stack.
    """
    listed = instructions.instructions_of(translator)
    lines = Lines(translators.code_of(translator))
    for position, index in traced.instructions_of(frame):
        instruction = listed[index]
        begins = lines.advance(instruction, index, instructions.line_of(instruction), position <= restored_at)
        if not lines.in_prologue:
            yield position, begins
