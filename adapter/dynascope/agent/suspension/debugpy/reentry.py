"""Refuse `debugpy.breakpoint()` in an expression: pydevd would resume the stopped thread."""

from __future__ import annotations

from typing import Any

from dynascope.agent.internals.isolation.containment import refuse_if_contained
from dynascope.agent.suspension.debugpy.resuming import Replace


def refuse_reentry(debugger: Any, replace: Replace) -> None:
    """Refuse the call before pydevd changes its state of the thread."""
    set_trace = debugger.set_trace_for_frame_and_parents

    def set_trace_for_frame_and_parents(*arguments: Any, **named: Any) -> Any:
        refuse_if_contained("debugpy.breakpoint()")
        return set_trace(*arguments, **named)

    replace(debugger, "set_trace_for_frame_and_parents", set_trace_for_frame_and_parents)
