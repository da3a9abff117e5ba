"""The running program's threads, and its frames below a compile, where debugpy shows none."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable

from dynascope.agent.program.user_code import is_our_code, is_torch_dynamo, real_path
from dynascope.wire.dap import Thread, ThreadsBody


def program_threads() -> ThreadsBody:
    """All but ours."""
    shown = [thread for thread in threading.enumerate() if not thread.name.startswith("dynascope")]
    return ThreadsBody(threads=[Thread(id=thread.native_id or 0, name=thread.name) for thread in shown])


def program_frames(frame: types.FrameType | None, shows: Callable[[str], bool]) -> list[types.FrameType]:
    """From `frame` outwards, without Dynamo's, our own and those of files that do not show."""
    return [each for each in all_frames(frame) if not is_torch_dynamo(_path(each)) and shows(real_path(_path(each)))]


def all_frames(frame: types.FrameType | None) -> list[types.FrameType]:
    """From `frame` outwards, without our own."""
    found = []
    while frame is not None:
        if not is_our_code(_path(frame)):
            found.append(frame)
        frame = frame.f_back
    return found


def _path(frame: types.FrameType) -> str:
    return frame.f_code.co_filename
