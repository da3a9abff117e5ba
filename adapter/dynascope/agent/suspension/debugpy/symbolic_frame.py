"""Give pydevd the attributes of a frame for symbolic frames, which only Dynamo evaluates; check that it shows one."""

from __future__ import annotations

import os
import types
from collections.abc import Iterator
from typing import Any

from dynascope.wire.dap import Source, StackFrame


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


_SELF_TEST = "dynascope self-test"


def check_hosts(debugger: Any, frames: Any, info: Any) -> None:
    """Pass pydevd a symbolic frame and read it back as debugpy's stackTrace does, or raise.

    `frames` is an empty pydevd FramesList, `info` pydevd's additional info of the current thread.
    """
    source = Source(path=os.path.abspath("dynascope-self-test"))
    frames.append(chain([StackFrame(id=1, name=_SELF_TEST, line=1, column=1, source=source)], None))
    with debugger.suspended_frames_manager.track_frames(debugger) as tracker:
        tracker.track(_SELF_TEST, frames)
        message = debugger.cmd_factory.make_get_thread_stack_message(
            debugger, 0, _SELF_TEST, None, None, must_be_suspended=True
        ).as_dict
    rows = message["body"]["stackFrames"]
    if [row["line"] for row in rows] != [1] or _SELF_TEST not in rows[0]["name"]:
        raise RuntimeError(f"pydevd showed our frame as {rows!r}")
    for name in ("pydev_state", "pydev_step_cmd", "pydev_original_step_cmd", "pydev_step_stop"):
        getattr(info, name)
    for name in ("post_method_as_internal_command", "set_trace_for_frame_and_parents", "disable_tracing"):
        getattr(debugger, name)
