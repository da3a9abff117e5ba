"""What pydevd needs of a frame, for the ones that exist only in Dynamo's mind."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from dynascope.wire.dap import StackFrame


class SymbolicCode:
    """Stands for `frame.f_code`."""

    co_flags = 0

    def __init__(self, name: str, path: str, first_line: int) -> None:
        self.co_name = self.co_qualname = name
        self.co_filename = path
        self.co_firstlineno = first_line

    def co_lines(self) -> Iterator[tuple[int, int, int | None]]:
        return iter(())


class SymbolicFrame:
    """A frame as pydevd's plugins hand them in. `f_locals` stays empty: the adapter answers for these frames."""

    IS_PLUGIN_FRAME = True
    f_trace = None

    def __init__(self, frame: StackFrame, f_back: SymbolicFrame | types.FrameType | None) -> None:
        path = frame.source.path if frame.source is not None and frame.source.path is not None else "<symbolic>"
        self.f_code = SymbolicCode(frame.name, path, frame.line)
        self.f_lineno = frame.line
        self.f_back = f_back
        self.f_globals: dict[str, Any] = {"__name__": "__dynamo__"}
        self.f_locals: dict[str, Any] = {}


def chain(frames: list[StackFrame], runtime_frame: types.FrameType | None) -> SymbolicFrame:
    """The innermost of `frames` (innermost first), each linked to the next and the last to `below`."""
    top: SymbolicFrame | types.FrameType | None = runtime_frame
    for frame in reversed(frames):
        top = SymbolicFrame(frame, top)
    assert isinstance(top, SymbolicFrame)
    return top
