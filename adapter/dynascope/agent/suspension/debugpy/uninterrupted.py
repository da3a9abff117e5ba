"""Call pydevd where its own callbacks cannot interrupt it.

A thread that waits in pydevd outside of a callback of Python's tracing is traced again as soon as the client sets a
breakpoint, or when Dynamo calls the program for an answer. pydevd would then stop it a second time, for ever, because
no request resumes a thread that waits inside its own wait. A thread that is marked as suspended stops in the next
function that it traces, with the frames of that function: code of the program or of a library that runs between the
mark and the wait, as a thread's name or the callback of a weak reference. Inside a callback no other callback runs.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
_TOOLS = (3, 4)  # the ids that sys.monitoring leaves unassigned


def uninterrupted(function: Callable[[], Result], set_trace: Callable[[Any], object]) -> Result:
    """Call `function` in a callback; `set_trace` sets this thread's trace function."""
    monitoring: Any = getattr(sys, "monitoring", None)
    return _traced(function, set_trace) if monitoring is None else _monitored(function, monitoring)


def _traced(function: Callable[[], Result], set_trace: Callable[[Any], object]) -> Result:
    """Call `function` in a trace function (Python 3.11); it may set another."""
    results: list[Result] = []
    previous = sys.gettrace()

    def trace(frame: types.FrameType, event: str, arg: object) -> None:
        set_trace(previous)
        results.append(function())

    set_trace(trace)
    try:
        _ring()
    except BaseException:
        set_trace(previous)  # Python removes a trace function that raises
        raise
    if results:
        return results[0]
    set_trace(previous)
    return function()  # this thread is in a callback already


def _ring() -> None: ...


def _monitored(function: Callable[[], Result], monitoring: Any) -> Result:
    """Call `function` in a callback of a tool id of its own; directly when no id is free."""
    tool = next((number for number in _TOOLS if monitoring.get_tool(number) is None), None)
    if tool is None:
        return function()
    results: list[Result] = []

    def ring() -> None: ...

    ring.__code__ = ring.__code__.replace(co_name="ring")  # events are set per code object: a new one for this call
    monitoring.use_tool_id(tool, "dynascope")
    try:
        monitoring.register_callback(tool, monitoring.events.PY_START, lambda code, offset: results.append(function()))
        monitoring.set_local_events(tool, ring.__code__, monitoring.events.PY_START)
        ring()
    finally:
        monitoring.set_local_events(tool, ring.__code__, 0)
        monitoring.register_callback(tool, monitoring.events.PY_START, None)
        monitoring.free_tool_id(tool)
    return results[0] if results else function()  # this thread is in a callback already
