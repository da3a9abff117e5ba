"""The threads and frames of the program: lists of them, what debuggers and tracebacks leave out, locks after a fork."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from dynascope.agent.program.user_code import is_our_code, is_torch_dynamo, real_path
from dynascope.facts.file_names import short_name
from dynascope.wire.dap import Thread, ThreadsBody


def hide_thread(thread: threading.Thread) -> None:
    """Keep pydevd, if loaded, from tracing, stopping or showing a thread not yet started."""
    thread.is_pydev_daemon_thread = thread.pydev_do_not_trace = True  # type: ignore[attr-defined]


def shown_threads() -> int:
    """Return how many threads run that are the program's."""
    return sum(not getattr(thread, "is_pydev_daemon_thread", False) for thread in threading.enumerate())


def fork_safe(lock: Any) -> Any:
    """Return `lock`, held across os.fork() so that the state it guards is consistent in a child."""
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def program_threads() -> ThreadsBody:
    """Return the body of DAP's `threads` response, without Dynascope's threads."""
    threads = [thread for thread in threading.enumerate() if not thread.name.startswith("dynascope")]
    return ThreadsBody(threads=[Thread(id=native_id(thread), name=thread.name) for thread in threads])


def native_id(thread: threading.Thread) -> int:
    """Return the system's number of a thread, 0 before it has one.

    In a forked process `Thread.native_id` of the main thread is its parent's (Python 3.11 to 3.13).
    """
    if sys.platform == "linux" and thread is threading.main_thread():
        return os.getpid()
    return thread.native_id or 0


def program_frames(frame: types.FrameType | None, shows: Callable[[str], bool]) -> list[types.FrameType]:
    """Return the frames outwards from `frame` without Dynamo's, Dynascope's and hidden files'."""
    return [row for row in all_frames(frame) if not is_torch_dynamo(_path(row)) and shows(real_path(_path(row)))]


def running_stack(thread: threading.Thread) -> list[str]:
    """Return the frames of a running thread, `file.py:12 in name`, innermost first."""
    frames = all_frames(sys._current_frames().get(thread.ident or 0))
    return [f"{short_name(_path(frame))}:{frame.f_lineno} in {frame.f_code.co_name}" for frame in frames]


def all_frames(frame: types.FrameType | None) -> list[types.FrameType]:
    """Return the frames outwards from `frame`, without Dynascope's."""
    frames = []
    while frame is not None:
        if not is_our_code(_path(frame)):
            frames.append(frame)
        frame = frame.f_back
    return frames


def _path(frame: types.FrameType) -> str:
    return frame.f_code.co_filename


class _HiddenFrame:
    """Take the frame that enters this out of the traceback of an error that passes through it.

    What shows frames while they run still shows it (`traceback.print_stack`, a stack that torch logs): only what is
    left of a frame in a traceback can be taken out.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        if error is not None and trace is not None:
            error.__traceback__ = trace.tb_next  # Python raises it again from there, without an entry for the frame


hidden_frame = _HiddenFrame()
