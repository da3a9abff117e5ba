"""Read the frames below a compile: their functions, and where a step that leaves it ends."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Sequence

from dynascope.agent.events.convert_frame import CompileHooks
from dynascope.agent.internals.codegen.generated import compiled_from, is_generated
from dynascope.agent.internals.frames import resume, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code, real_path
from dynascope.agent.suspension.interface import LinePassed, Suspension


class RuntimeFrames:
    """Read the real frames below a compile; used on the compiling thread."""

    def __init__(self, hooks: CompileHooks, suspension: Suspension) -> None:
        self._hooks = hooks
        self._suspension = suspension

    def first(self) -> types.FrameType | None:
        """Return the innermost frame below this thread's compile."""
        return self._hooks.frame_below()

    def functions(self) -> list[object]:
        """Return the functions that compiled code runs, down to where a run-time step ends."""
        return [function_of(frame.f_code) for frame in self._generated_from(self.first())]

    def steps_over(self) -> list[object]:
        """Return the functions in whose continuation the run-time `next` in progress may end."""
        frame = self._suspension.runtime_steps_over()
        if frame is None or not _is_compiled(frame.f_code):
            return []
        return [function_of(running.f_code) for running in self._generated_from(frame)]

    def lines_passed(self, stack: Sequence[Translator]) -> list[LinePassed]:
        """Return the current lines of `stack`, innermost first, and of the compiled code below."""
        traced = [(translators.code_of(translator), translators.line_of(translator)) for translator in stack]
        running = [(frame.f_code, frame.f_lineno) for frame in self._generated_from(self.first())]
        return [
            LinePassed(code.co_filename, line, functools.partial(_runs, function_of(code)))
            for code, line in traced + running
        ]

    def _generated_from(self, frame: types.FrameType | None) -> Iterator[types.FrameType]:
        """Yield the frames of compiled code, down to the frame where a step ends at run time."""
        while frame is not None:
            if _is_compiled(frame.f_code):
                yield frame
            elif self._is_where_steps_end(frame):
                return
            frame = frame.f_back

    def user_frame(self) -> types.FrameType | None:
        """Return the frame in which a step that leaves the compile ends."""
        frame = self.first()
        while frame is not None:
            if self._is_where_steps_end(frame) and not _is_compiled(frame.f_code):
                return frame
            frame = frame.f_back
        return None

    def _is_where_steps_end(self, frame: types.FrameType) -> bool:
        path = real_path(frame.f_code.co_filename)
        return self._suspension.is_user_code(path) and not is_our_code(path)


def function_of(code: types.CodeType) -> object:
    """Return the key that a function shares with its resume functions and generated code."""
    original = resume.original_code(compiled_from(code))
    return original.co_filename, original.co_firstlineno, original.co_qualname


def _runs(function: object, code: types.CodeType) -> bool:
    """Whether this code runs lines of that function as written."""
    return function_of(code) == function and not _is_compiled(code)


def _is_compiled(code: types.CodeType) -> bool:
    """Whether Dynamo generated this code and it runs no line of a function as written."""
    return is_generated(code) and not resume.runs_as_written(code, compiled_from(code))
