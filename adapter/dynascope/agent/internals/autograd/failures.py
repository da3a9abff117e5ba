"""Read why a capture failed, and tell whether a capture is running, during which torch's cache must not change."""

from __future__ import annotations

import sys
import types
from typing import Any


def error_of(compiler: Any) -> str | None:
    """Return a failed capture's error text; None where it was raised between nodes, in C++."""
    found: str | None = compiler.__dict__.get("_dynascope_error")
    return found


def is_capturing() -> bool:
    """Whether any thread is in a method of an `AutogradCompilerInstance` called by the engine."""
    # no name for a thread's innermost frame: this function's own would be in a cycle of references, and all below it
    return any(map(_is_in_capture, sys._current_frames().values()))


def _is_in_capture(innermost: types.FrameType) -> bool:
    frame: types.FrameType | None = innermost
    while frame is not None:
        if frame.f_code.co_qualname.startswith("AutogradCompilerInstance.") and _is_of_dynamo(frame):
            return True
        frame = frame.f_back
    return False


def _is_of_dynamo(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__") == "torch._dynamo.compiled_autograd"


def error_text(error: BaseException) -> str:
    """Return the error's type and the first line of its message that is not blank."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = " ".join(lines[:2] if lines and lines[0].endswith(":") else lines[:1])
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def runs_compiled_backward() -> bool:
    """Whether a captured backward runs now (`in_compiled_autograd_region`, 2.4)."""
    return bool(sys.modules["torch._dynamo.compiled_autograd"].in_compiled_autograd_region)
