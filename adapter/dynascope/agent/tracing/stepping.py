"""Where a step ends: a state machine per thread that knows neither Dynamo nor any debugger.

A frame is an integer that its activation gets when Dynamo begins to trace it; the same trace, repeated after one of
Dynamo's restarts, gives every frame its integer again, so that a step survives a restart unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from dynascope.wire.messages import Granularity, ResumeCommand

FrameId = int


class Mode(Enum):
    """What ends the step."""

    RUN = "nothing"
    INTO = "the next line of any frame"
    OVER = "the next line of one frame"
    TO_CALL = "the call that is to be stepped into, and then INTO"
    RETURN = "the next instruction of one frame, whose callee has returned"
    LEAVING = "the program, once this compile is over: the outermost frame is done"
    LEFT = "the program, or the next compile, whichever comes first"


_IN_ONE_FRAME = (Mode.OVER, Mode.TO_CALL, Mode.RETURN)


class Stepping:
    """Asked at every new line; told of every command, of frames that are left, and of compiles that begin or end."""

    def __init__(self) -> None:
        self.mode = Mode.RUN
        self.frame: FrameId | None = None
        self._begun_as: tuple[Mode, FrameId | None] = (Mode.RUN, None)
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
        """Begin the step the user asked for at a stop.

        With granularity `instruction` it ends at the next instruction instead of at the next line. `call`: index of the
        instruction that is about to be traced, and of the call on its line that a `stepIn` is to go into.

        `frames` are those being traced, innermost first; `functions` what each of them runs, and then what the frames
        below the compile run, so far as Dynamo made them: after a graph break another compile continues one of these.
        """
        here, caller = frames[0], frames[1] if len(frames) > 1 else None
        by_instruction = granularity == "instruction"
        match command:
            case "continue":
                self._begin(Mode.RUN, None, ())
            case "stepIn" if call is not None:
                self._begin(Mode.TO_CALL, here, functions)
                self._from, self._call = call
            case "stepIn":
                self._begin(Mode.INTO, here, None)
            case "next":
                self._begin(Mode.OVER, here, functions)
            case "stepOut":
                self._begin(Mode.LEAVING if caller is None else Mode.RETURN, caller, functions[1:])
        self._by_instruction = by_instruction

    def _begin(self, mode: Mode, frame: FrameId | None, functions: Sequence[object] | None) -> None:
        """`functions`: those in whose continuation the step may end, should it leave this compile; None for any."""
        self.mode, self.frame = self._begun_as = mode, frame
        self._functions = functions
        self._by_instruction = self._by_instruction and mode is not Mode.RUN

    def cancel(self) -> None:
        """The step is over: the thread has stopped, or another debugger has stopped it."""
        self._begin(Mode.RUN, None, ())

    def step_into_compile(self) -> None:
        """A `stepIn` at run time goes on in the compile that begins now."""
        self._begin(Mode.INTO, None, None)

    def left_at_runtime(self, functions: Sequence[object]) -> None:
        """A `next` at run time goes on in the compile that begins now, which continues one of these functions."""
        self._begin(Mode.LEFT, None, functions)

    def compile_begins(self, frame: FrameId, function: object, continues: bool, elsewhere: bool) -> bool:
        """Whether a step that left an earlier compile goes on in the one that begins now, in `frame`, which shows.

        `continues`: it goes on with `function` behind a graph break. `elsewhere`: what the step began in is over, and
        nobody ends the step at run time, so that any compile will do.
        """
        if self.mode is not Mode.LEFT:
            return False
        if self._functions is None or elsewhere:
            self._begin(Mode.INTO, frame, None)
        elif continues and function in self._functions:
            self._begin(Mode.OVER, frame, self._functions)
        return self.mode is not Mode.LEFT

    def began_in(self, function: object) -> bool:
        """Whether the step may end in the continuation of this function."""
        return self._functions is not None and function in self._functions

    @property
    def follows_every_frame(self) -> bool:
        return self.mode is Mode.INTO

    def follows(self, frame: FrameId) -> bool:
        return self.mode is Mode.INTO or (self.frame == frame and self.mode in _IN_ONE_FRAME)

    @property
    def heeds_instructions(self) -> bool:
        """Whether the step may end, or become another, amid a line."""
        return self._by_instruction or self.mode in (Mode.RETURN, Mode.TO_CALL)

    def reaches(self, frame: FrameId, index: int) -> None:
        """Dynamo is about to trace instruction `index` of `frame`."""
        if self.mode is not Mode.TO_CALL or self.frame != frame:
            return
        if index == self._call:
            self._begin(Mode.INTO, frame, None)
        elif not self._from <= index < self._call:
            self._begin(Mode.OVER, frame, self._functions)  # control went elsewhere: the call is not made

    def ends_at_line(self, frame: FrameId, shown: Callable[[], bool]) -> bool:
        """Whether the step ends at the line that `frame` has reached; `shown` says whether steps stop in its file."""
        if self.mode is Mode.INTO:
            return shown()
        return self.mode is Mode.OVER and self.frame == frame

    def ends_at_instruction(self, frame: FrameId, shown: Callable[[], bool]) -> bool:
        """Whether the step ends amid a line: it goes by instructions, or the frame that it began in has returned."""
        if self._by_instruction and self.mode is Mode.INTO:
            return shown()
        return self.frame == frame and (self.mode is Mode.RETURN or (self._by_instruction and self.mode is Mode.OVER))

    def frame_left(self, frame: FrameId, callers: Sequence[tuple[FrameId, bool]]) -> FrameId | None:
        """Dynamo left `frame`, by return, yield or exception.

        `callers` are the frames still being traced, innermost first, and whether steps stop in them. Returns the frame
        in which the step now ends, if it is another.
        """
        if self.frame != frame or self.mode not in (Mode.INTO, *_IN_ONE_FRAME):
            return None
        if self.mode is Mode.INTO and callers and not callers[0][1]:
            self.frame = callers[0][0]  # hidden, but it may call what is shown
            return None
        self.frame = next((caller for caller, shown in callers if shown), None)
        self.mode = Mode.LEAVING if self.frame is None else Mode.RETURN
        return self.frame

    def trace_restarts(self) -> None:
        """Dynamo traces the frame again from the top: leaving frames on the way out was no step."""
        self.mode, self.frame = self._begun_as

    def compile_ends(self) -> bool:
        """Whether a step leaves this compile just now, for the program below to finish it."""
        leaves = self.mode not in (Mode.RUN, Mode.LEFT)
        if leaves:
            self._begin(Mode.LEFT, None, self._functions)
        return leaves
