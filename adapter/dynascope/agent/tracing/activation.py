"""One activation of a frame: which of the instructions Dynamo traces begin a line, as a debugger counts lines.

A line begins when the line number changes or control goes back (a loop). What comes before a function's own code begins
none: the prologue up to `RESUME`, and in a resume function the restoring of the stack and the rest of the line whose
beginning was traced before the graph break.
"""

from __future__ import annotations

import types

from dynascope.agent.internals.frames import resume
from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.stepping import FrameId


class Activation:
    """State of one watched frame between two instructions."""

    __slots__ = (
        "_enters_function",
        "_index",
        "_lines_since_jump",
        "_restored",
        "code",
        "frame",
        "in_prologue",
        "line",
        "original",
        "translator",
    )

    def __init__(self, translator: Translator, frame: FrameId) -> None:
        self.translator = translator
        self.frame = frame
        self.code: types.CodeType = tracing.code_of(translator)
        self.original = resume.original_code(self.code)
        self._index = tracing.instruction_index(translator)
        # a generator's body begins where it is first resumed: behind the instruction that made the generator
        fresh = self._index < 0 or tracing.instruction(translator).opname == "RETURN_GENERATOR"
        self.line: int | None = None if fresh else tracing.line_of(translator)
        self.in_prologue = fresh or tracing.in_resume_prologue(translator)
        self._restored = False
        self._lines_since_jump: set[int] = set()
        self._enters_function = fresh and self.original is self.code

    def begins_line(self, line: int) -> bool:
        """Whether the instruction about to be traced begins `line`."""
        translator = self.translator
        index = tracing.instruction_index(translator)
        went_back = index <= self._index
        self._index = index
        if self.in_prologue:
            self._leave_prologue(line)
            return False if self.in_prologue else self._begins_first_line(line)
        if went_back:
            self._lines_since_jump.clear()
        elif line == self.line:
            return False
        self.line = line
        return True

    def _leave_prologue(self, line: int) -> None:
        translator = self.translator
        if self.original is self.code:
            # RESUME itself belongs to the `def` line: the first line begins behind it
            if self._restored:
                self.in_prologue = False
            self._restored = tracing.instruction(translator).opname == "RESUME"
        elif tracing.in_resume_prologue(translator):
            self._restored = True
        elif self._restored:
            self.in_prologue = False

    def _begins_first_line(self, line: int) -> bool:
        self.line = line
        if self.original is self.code:
            return True
        return resume.begins_a_line(tracing.instruction(self.translator), self.original)

    def first_time_since_jump(self, line: int) -> bool:
        """False when a statement of several lines comes back to its first: a breakpoint there has had its stop."""
        if line in self._lines_since_jump:
            return False
        self._lines_since_jump.add(line)
        return True

    def enters_function(self) -> bool:
        """Whether this is the first line of a call, and no resumption; true once."""
        enters, self._enters_function = self._enters_function, False
        return enters
