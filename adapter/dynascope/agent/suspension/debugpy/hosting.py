"""Check, before wrapping it, whether the pydevd in this process can host symbolic frames."""

from __future__ import annotations

import os
from typing import Any

from dynascope.agent.suspension.debugpy.symbolic_frame import chain
from dynascope.wire.dap import Source, StackFrame

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
