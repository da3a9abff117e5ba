"""Have pydevd stop in the functions that a dotted name stands for; pydevd itself compares plain names only.

The part before the last dot may be a pattern. The part after it may not: pydevd would have to match every call against
it. Code that Dynamo generated for a function does not stop: the function has stopped where Dynamo traced it.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any

from dynascope.agent.internals.frames.resume import made_from
from dynascope.agent.isolation.unseen import unseen
from dynascope.wire.breakpoint_texts import names_function_of

Replace = Callable[[Any, str, Any], None]
"""Sets an attribute and remembers its original value."""


def take_dotted_names(debugger: Any, api: Any, replace: Replace) -> None:
    """Replace how pydevd finds the breakpoints of a function; its class `api` serves the client."""
    holds = debugger.handle_breakpoint_condition

    def set_function_breakpoints(api: object, debugger: Any, breakpoints: Sequence[Any]) -> None:
        by_name: dict[str, list[Any]] = {}
        for each in breakpoints:
            by_name.setdefault(each.func_name.rpartition(".")[2], []).append(each)
        named = {name: BreakpointsOfName(several) for name, several in by_name.items()}
        debugger.function_breakpoint_name_to_breakpoint = named
        debugger.on_breakpoints_changed()

    def condition_holds(info: Any, breakpoint: Any, frame: types.FrameType) -> Any:
        if isinstance(breakpoint, BreakpointsOfName):
            return breakpoint.stops_in(frame, functools.partial(holds, info))
        return holds(info, breakpoint, frame)

    replace(api, "set_function_breakpoints", set_function_breakpoints)
    replace(debugger, "handle_breakpoint_condition", condition_holds)


class BreakpointsOfName:
    """All function breakpoints with the same last name, which pydevd treats as one breakpoint."""

    condition = expression = hit_condition = None
    is_logpoint = False
    has_condition = True
    """Has pydevd ask, at each call, whether one stops."""

    def __init__(self, breakpoints: Sequence[Any]) -> None:
        self._breakpoints = breakpoints
        self._at_stop = threading.local()
        self.suspend_policy = breakpoints[0].suspend_policy

    @property
    def breakpoint_id(self) -> int:
        """Return the id of the breakpoint that has stopped this thread."""
        return int(getattr(self._at_stop, "id", self._breakpoints[0].breakpoint_id))

    def stops_in(self, frame: types.FrameType, holds: Callable[[Any, types.FrameType], Any]) -> bool:
        """Whether a breakpoint stops in this call. Each counts the call as a hit."""
        if unseen(made_from, frame.f_code) is not None:
            return False
        named = [each for each in self._breakpoints if unseen(_names, each.func_name, frame.f_code)]
        stopping = [each for each in named if not each.has_condition or holds(each, frame)]
        if stopping:
            self._at_stop.id = stopping[0].breakpoint_id
        return bool(stopping)


def _names(pattern: str, code: types.CodeType) -> bool:
    return pattern == code.co_name or _names_function_of(pattern, code.co_qualname, code.co_filename)


_names_function_of = functools.lru_cache(1024)(names_function_of)
