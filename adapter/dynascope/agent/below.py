"""The running program below a compile: what its compiled code runs, and where a step that leaves the compile ends."""

from __future__ import annotations

import types

from dynascope.agent.internals import convert_frame, resume
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.user_code import is_our_code, real_path


class ProgramBelow:
    """Reads the real frames under a compile; on the compiling thread."""

    def __init__(self, hooks: convert_frame.CompileHooks, suspension: Suspension) -> None:
        self._hooks = hooks
        self._suspension = suspension

    def frame(self) -> types.FrameType | None:
        """The innermost frame below the compile that this thread is in."""
        return self._hooks.frame_below()

    def functions(self) -> list[object]:
        """What the compiled code under this compile runs, down to the frame where a step of ours ends at run time."""
        frame, functions = self.frame(), []
        while frame is not None:
            if convert_frame.is_generated(frame.f_code):
                functions.append(function_of(frame.f_code))
            elif self._is_where_steps_end(frame):
                break
            frame = frame.f_back
        return functions

    def user_frame(self) -> types.FrameType | None:
        """Where a step that leaves the compile ends."""
        frame = self.frame()
        while frame is not None:
            if self._is_where_steps_end(frame) and not convert_frame.is_generated(frame.f_code):
                return frame
            frame = frame.f_back
        return None

    def _is_where_steps_end(self, frame: types.FrameType) -> bool:
        path = real_path(frame.f_code.co_filename)
        return self._suspension.is_user_code(path) and not is_our_code(path)


def function_of(code: types.CodeType) -> object:
    """What tells a function, its resume functions and the code that Dynamo made of it from every other function."""
    original = resume.original_code(code)
    return original.co_filename, original.co_firstlineno, original.co_qualname
