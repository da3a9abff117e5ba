"""Call pydevd where its own callbacks cannot interrupt it (Python 3.12).

A thread that waits in pydevd outside of a callback of `sys.monitoring` is traced again as soon as the client sets a
breakpoint; pydevd then stops it a second time, in its own JSON encoder. Inside a callback no other callback runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
_TOOLS = (3, 4)  # the ids that sys.monitoring leaves unassigned


def uninterrupted(function: Callable[[], Result]) -> Result:
    """Call `function` in a callback of a tool id of its own; directly when no id is free."""
    monitoring: Any = getattr(sys, "monitoring", None)
    tool = next((number for number in _TOOLS if monitoring.get_tool(number) is None), None) if monitoring else None
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
