"""Decide which instructions of a frame begin a line, as a debugger counts lines.

A line begins when the line number changes or control jumps back (a loop). The instructions before a function's own code
begin no line: the prologue up to `RESUME`, and in a resume function those that restore the stack and the rest of the
line that began before the graph break.
"""

from __future__ import annotations

import types

from dynascope.agent.internals.frames import resume, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.stepping import FrameId


class Activation:
    """The state of one watched frame at the instruction that is about to be traced."""

    __slots__ = (
        "_index",
        "_lines_since_jump",
        "_restored",
        "_will_enter",
        "begins_line",
        "code",
        "comes_back",
        "enters_function",
        "frame",
        "in_prologue",
        "is_new",
        "line",
        "original",
        "translator",
    )

    def __init__(self, translator: Translator, frame: FrameId) -> None:
        self.translator = translator
        self.frame = frame
        self.code: types.CodeType = translators.code_of(translator)
        self.original = resume.original_code(self.code)
        self._index = translators.instruction_index(translator)
        # a generator's body begins where it is first resumed, after the instruction that created the generator
        fresh = self._index < 0 or translators.instruction(translator).opname == "RETURN_GENERATOR"
        self.line: int | None = None if fresh else translators.line_of(translator)
        """The line that began last."""
        self.in_prologue = fresh or translators.in_resume_prologue(translator)
        self.begins_line = False
        """Whether the instruction begins a line."""
        self.comes_back = False
        """Whether that line has already begun since the last jump back: a statement of several lines returns to its
        first line, where a breakpoint has already stopped."""
        self.enters_function = False
        """Whether it begins the first line of a call; false when a generator or function is resumed."""
        self.is_new = False
        """Whether no earlier attempt has reached this instruction."""
        self._restored = False
        self._lines_since_jump: set[int] = set()
        self._will_enter = fresh and self.original is self.code

    def advance(self, line: int) -> None:
        """Advance to the instruction about to be traced, which belongs to `line`."""
        self.begins_line = self._begins(line)
        if self.begins_line:
            self.enters_function, self._will_enter = self._will_enter, False
            self.comes_back = line in self._lines_since_jump
            self._lines_since_jump.add(line)

    def _begins(self, line: int) -> bool:
        translator = self.translator
        index = translators.instruction_index(translator)
        went_back = index <= self._index
        self._index = index
        if self.in_prologue:
            self._leave_prologue()
            return False if self.in_prologue else self._begins_first_line(line)
        if went_back:
            self._lines_since_jump.clear()
        elif line == self.line:
            return False
        self.line = line
        return True

    def _leave_prologue(self) -> None:
        translator = self.translator
        if self.original is self.code:
            # RESUME itself belongs to the `def` line: the first line begins after it
            if self._restored:
                self.in_prologue = False
            self._restored = translators.instruction(translator).opname == "RESUME"
        elif translators.in_resume_prologue(translator):
            self._restored = True
        elif self._restored:
            self.in_prologue = False

    def _begins_first_line(self, line: int) -> bool:
        self.line = line
        if self.original is self.code:
            return True
        return resume.begins_a_line(translators.instruction(self.translator), self.original)
