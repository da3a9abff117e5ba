"""Give pydevd the attributes of a frame for symbolic frames, which only Dynamo evaluates."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from dynascope.wire.dap import StackFrame


class SymbolicCode:
    """Stand in for `frame.f_code`."""

    co_flags = 0

    def __init__(self, name: str, path: str, first_line: int) -> None:
        self.co_name = self.co_qualname = name
        self.co_filename = path
        self.co_firstlineno = first_line

    def co_lines(self) -> Iterator[tuple[int, int, int | None]]:
        return iter(())


class SymbolicFrame:
    """A frame like those of pydevd's plugins; `f_locals` stays empty, as the adapter serves it."""

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
    """Link `frames` (innermost first) and `runtime_frame`; return the innermost."""
    top: SymbolicFrame | types.FrameType | None = runtime_frame
    for frame in reversed(frames):
        top = SymbolicFrame(frame, top)
    assert isinstance(top, SymbolicFrame)
    return top
