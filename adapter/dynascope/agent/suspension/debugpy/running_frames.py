"""Correct how pydevd begins to trace frames that run already, for a new breakpoint or `debugpy.breakpoint()`.

For a new breakpoint it goes through the frames of every thread, from caller to caller, while those threads run on. A
generator that yields meanwhile has no caller any more: pydevd would end there, and no breakpoint in a function below it
that runs already, such as a loop, would ever stop.
"""

from __future__ import annotations

import inspect
import itertools
import sys
import threading
import types
from typing import Any

from dynascope.agent.isolation.containment import refuse_if_contained
from dynascope.agent.suspension.debugpy.breakpoints import Replace

_YIELDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_ATTEMPTS = 10


def correct_running_frames(debugger: Any, replace: Replace) -> None:
    """Trace all frames of other threads; refuse `debugpy.breakpoint()` in an expression.

    pydevd would resume the stopped thread; the call is refused before pydevd changes its state of the thread.
    """
    set_trace = debugger.set_trace_for_frame_and_parents

    def set_trace_for_frame_and_parents(ident: int | None, frame: Any, **named: Any) -> None:
        refuse_if_contained("debugpy.breakpoint()")
        begins = [frame]
        if ident is not None and ident != threading.get_ident():
            stack = _stack(ident)
            begins = stack[:1] + [caller for each, caller in itertools.pairwise(stack) if _yields(each)]
        for each in begins:
            set_trace(ident, each, **named)

    replace(debugger, "set_trace_for_frame_and_parents", set_trace_for_frame_and_parents)


def _stack(ident: int) -> list[types.FrameType]:
    """Return the frames of a thread, innermost first; again if a generator yielded meanwhile."""
    stack: list[types.FrameType] = []
    for _ in range(_ATTEMPTS):
        frame, stack = sys._current_frames().get(ident), []
        while frame is not None:
            stack.append(frame)
            frame = frame.f_back
        if not stack or not _yields(stack[-1]):
            break
    return stack


def _yields(frame: types.FrameType) -> bool:
    return bool(frame.f_code.co_flags & _YIELDS)
