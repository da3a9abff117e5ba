"""Decide where a step ends: a state machine per thread, independent of Dynamo.

A frame is an integer that its activation gets when Dynamo begins to trace it. When Dynamo restarts and repeats the
trace, every frame gets the same integer again, so that a step survives a restart unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from dynascope.agent.tape.instructions import FrameId
from dynascope.wire.messages import Granularity, ResumeCommand


class StepMode(Enum):
    """The condition that ends the step."""

    RUN = "nothing"
    INTO = "the next line of any frame"
    OVER = "the next line of one frame"
    TO_CALL = "the call that is to be stepped into, and then INTO"
    RETURN = "the next instruction of one frame, whose callee has returned"
    LEAVING = "the program, once this compile is over: the outermost frame is done"
    LEFT = "the program, or the next compile, whichever comes first"


_IN_ONE_FRAME = (StepMode.OVER, StepMode.TO_CALL, StepMode.RETURN)


class Stepping:
    """The step of one thread, updated by commands, returning frames, and compiles."""

    def __init__(self) -> None:
        self.mode = StepMode.RUN
        self.frame: FrameId | None = None
        self._begun_as: tuple[StepMode, FrameId | None] = (StepMode.RUN, None)
        self._functions: Sequence[object] | None = None
        self._by_instruction = False
        self._from: int = 0
        self._call: int = 0

    def command(
        self,
        command: ResumeCommand,
        frames: Sequence[FrameId],
        functions: Sequence[object],
        granularity: Granularity = "line",
        call: tuple[int, int] | None = None,
    ) -> None:
        """Begin the step that the user requested at a stop.

        With granularity `instruction` it ends at the next instruction instead of the next line. `call`: the index of
        the instruction about to be traced, and that of the call on its line which a `stepIn` enters.

        `frames` are those being traced, innermost first; `functions` are the functions they run, followed by those that
        generated frames below the compile run: after a graph break another compile continues one of these.
        """
        here, caller = frames[0], frames[1] if len(frames) > 1 else None
        by_instruction = granularity == "instruction"
        match command:
            case "continue":
                self._begin(StepMode.RUN, None, ())
            case "stepIn" if call is not None:
                self._begin(StepMode.TO_CALL, here, functions)
                self._from, self._call = call
            case "stepIn":
                self._begin(StepMode.INTO, here, None)
            case "next":
                self._begin(StepMode.OVER, here, functions)
            case "stepOut":
                self._begin(StepMode.LEAVING if caller is None else StepMode.RETURN, caller, functions[1:])
        self._by_instruction = by_instruction

    def _begin(self, mode: StepMode, frame: FrameId | None, functions: Sequence[object] | None) -> None:
        """Set the step; after the compile it may end in a continuation of `functions` (None: any)."""
        self.mode, self.frame = self._begun_as = mode, frame
        self._functions = functions
        self._by_instruction = self._by_instruction and mode is not StepMode.RUN

    def cancel(self) -> None:
        """End the step, because the thread has stopped or another debugger has stopped it."""
        self._begin(StepMode.RUN, None, ())

    def step_into_compile(self) -> None:
        """Continue a run-time `stepIn` in the compile that begins now."""
        self._begin(StepMode.INTO, None, None)

    def left_at_runtime(self, functions: Sequence[object]) -> None:
        """Continue a run-time `next` in the beginning compile of one of these functions."""
        self._begin(StepMode.LEFT, None, functions)

    def compile_begins(self, frame: FrameId, function: object, continues: bool, elsewhere: bool) -> bool:
        """Whether a step that left an earlier compile continues in the new one, in `frame`.

        `frame` is one where steps stop. `continues`: the compile continues `function` after a graph break. `elsewhere`:
        the frames where the step began are gone and no debugger ends the step at run time, so any compile may end it.
        """
        if self.mode is not StepMode.LEFT:
            return False
        if self._functions is None or elsewhere:
            self._begin(StepMode.INTO, frame, None)
        elif continues and function in self._functions:
            self._begin(StepMode.OVER, frame, self._functions)
        return self.mode is not StepMode.LEFT

    def began_in(self, function: object) -> bool:
        """Whether the step may end in the continuation of this function."""
        return self._functions is not None and function in self._functions

    def follows(self, frame: FrameId) -> bool:
        return self.mode is StepMode.INTO or (self.frame == frame and self.mode in _IN_ONE_FRAME)

    @property
    def heeds_instructions(self) -> bool:
        """Whether the step may end or change its mode in the middle of a line."""
        return self._by_instruction or self.mode in (StepMode.RETURN, StepMode.TO_CALL)

    def reaches(self, frame: FrameId, index: int) -> None:
        """Update a step into one call: Dynamo is about to trace instruction `index` of `frame`."""
        if self.mode is not StepMode.TO_CALL or self.frame != frame:
            return
        if index == self._call:
            self._begin(StepMode.INTO, frame, None)
        elif not self._from <= index < self._call:
            self._begin(StepMode.OVER, frame, self._functions)  # control jumped elsewhere: the call is not reached

    def ends_at_line(self, frame: FrameId, is_shown: Callable[[], bool]) -> bool:
        """Whether the step ends at this line of `frame`; `is_shown`: do steps stop in its file."""
        if self.mode is StepMode.INTO:
            return is_shown()
        return self.mode is StepMode.OVER and self.frame == frame

    def ends_at_instruction(self, frame: FrameId, is_shown: Callable[[], bool]) -> bool:
        """Whether the step ends in mid-line: by instruction, or because its frame has returned."""
        if self._by_instruction and self.mode is StepMode.INTO:
            return is_shown()
        return self.frame == frame and (
            self.mode is StepMode.RETURN or (self._by_instruction and self.mode is StepMode.OVER)
        )

    def frame_left(self, frame: FrameId, callers: Sequence[tuple[FrameId, bool]]) -> FrameId | None:
        """Update the step after Dynamo left `frame` by return, yield or exception.

        `callers` are the frames still being traced, innermost first, with whether steps stop in them. Returns the frame
        in which the step now ends if that has changed.
        """
        if self.frame != frame or self.mode not in (StepMode.INTO, *_IN_ONE_FRAME):
            return None
        if self.mode is StepMode.INTO and callers and not callers[0][1]:
            self.frame = callers[0][0]  # steps do not stop in it, but it may call a frame where they do
            return None
        self.frame = next((caller for caller, is_shown in callers if is_shown), None)
        self.mode = StepMode.LEAVING if self.frame is None else StepMode.RETURN
        return self.frame

    def trace_restarts(self) -> None:
        """Restore the step as begun: frames that Dynamo left in order to restart do not count."""
        self.mode, self.frame = self._begun_as

    def compile_ends(self) -> bool:
        """Whether a step leaves this compile now, to end in the running program."""
        leaves = self.mode not in (StepMode.RUN, StepMode.LEFT)
        if leaves:
            self._begin(StepMode.LEFT, None, self._functions)
        return leaves
