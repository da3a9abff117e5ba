"""Decide which instructions of a frame begin a line, as a debugger counts lines.

A line begins when the line number changes or control jumps back (a loop). The instructions before a function's own code
begin no line: the prologue up to `RESUME`, and in a resume function those that restore the stack and the rest of the
line that began before the graph break. A statement of several lines returns to lines that it has begun before.
"""

from __future__ import annotations

import types
from typing import Any

from dynascope.agent.internals.frames import resume, translators
from dynascope.agent.internals.frames.instructions import has_line
from dynascope.agent.internals.frames.resume import Place, first_places, is_at
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tape.instructions import FrameId


class Lines:
    """The lines of one frame, which begin one after the other."""

    def __init__(
        self, code: types.CodeType, index: int = -1, line: int | None = None, in_prologue: bool = True
    ) -> None:
        """Take the index and the line of the instruction that was traced last."""
        self.code = code
        self.original = resume.original_code(code)
        self.in_prologue = in_prologue
        self.line = line
        """The line that began last."""
        self.comes_back = False
        """Whether the statement has already begun that line, also in front of the graph break that a resume function
        follows. Breakpoints have stopped there."""
        self._index = index
        self._goes_back = False
        """Whether control jumped back to an instruction without a line."""
        self._restored = False
        self._since_jump: set[int] = set()
        """The lines begun since the last jump back."""
        self._follows_break = self.original is not self.code
        """Whether there has been no jump back since the graph break that a resume function follows."""
        self._first_places: dict[int, Place] | None = None

    def advance(self, instruction: Any, index: int, line: int, is_restoring: bool) -> bool:
        """Whether `instruction`, which is about to be traced, begins a line.

        `is_restoring`: it is one of those with which a resume function restores the stack.
        """
        begins = self._begins(instruction, index, line, is_restoring)
        if begins:
            has_begun = self._follows_break or line in self._since_jump
            self.comes_back = has_begun and not self._is_first(instruction, line)
            self._since_jump.add(line)
        return begins

    def _begins(self, instruction: Any, index: int, line: int, is_restoring: bool) -> bool:
        went_back = self._goes_back or index <= self._index
        self._index = index
        if self.in_prologue:
            self._leave_prologue(instruction, is_restoring)
            if self.in_prologue:
                return False
            self.line = line
            return self.original is self.code or resume.begins_a_line(instruction, self.original)
        if line == self.line and not went_back:
            return False
        self._goes_back = went_back and not has_line(instruction)
        if not has_line(instruction):
            return False
        if went_back:
            self._since_jump.clear()
            self._follows_break = False
        self.line = line
        return True

    def _is_first(self, instruction: Any, line: int) -> bool:
        """Whether the line begins with this instruction or a copy: `while` has its test twice."""
        if self._first_places is None:
            self._first_places = first_places(self.original)
        return is_at(instruction, self._first_places.get(line))

    def _leave_prologue(self, instruction: Any, is_restoring: bool) -> None:
        if self.original is self.code:
            # RESUME itself belongs to the `def` line: the first line begins after it
            if self._restored:
                self.in_prologue = False
            self._restored = instruction.opname == "RESUME"
        elif is_restoring:
            self._restored = True
        elif self._restored:
            self.in_prologue = False


class Activation:
    """The state of one watched frame at the instruction that is about to be traced."""

    __slots__ = (
        "_lines",
        "_will_enter",
        "begins_line",
        "code",
        "enters_function",
        "frame",
        "may_stop",
        "original",
        "translator",
    )

    def __init__(self, translator: Translator, frame: FrameId) -> None:
        self.translator = translator
        self.frame = frame
        self.code: types.CodeType = translators.code_of(translator)
        self.original = resume.original_code(self.code)
        index = translators.instruction_index(translator)
        # a generator's body begins where it is first resumed, after the instruction that created the generator
        fresh = index < 0 or translators.instruction(translator).opname == "RETURN_GENERATOR"
        in_prologue = fresh or translators.in_resume_prologue(translator)
        self._lines = Lines(
            self.code, index, None if fresh else translators.line_of(translator), in_prologue=in_prologue
        )
        self.begins_line = False
        """Whether the instruction begins a line."""
        self.enters_function = False
        """Whether it begins the first line of a call; false when a generator or function is resumed."""
        self.may_stop = False
        """Whether breakpoints may stop here: the instruction is not repeated silently."""
        self._will_enter = fresh and self.original is self.code

    @property
    def line(self) -> int | None:
        """Return the line that began last."""
        return self._lines.line

    @property
    def comes_back(self) -> bool:
        """Whether the statement has already begun that line, where breakpoints have stopped."""
        return self._lines.comes_back

    @property
    def in_prologue(self) -> bool:
        """Whether the function's own code has not begun."""
        return self._lines.in_prologue

    def advance(self, line: int) -> None:
        """Advance to the instruction about to be traced, which belongs to `line`."""
        translator, lines = self.translator, self._lines
        index = translators.instruction_index(translator)
        is_restoring = lines.in_prologue and translators.in_resume_prologue(translator)
        self.begins_line = lines.advance(translators.instruction(translator), index, line, is_restoring)
        if self.begins_line:
            self.enters_function, self._will_enter = self._will_enter, False
