"""Stops of function breakpoints. The hook checks them at the first line of each call."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence

from dynascope.agent.breakpoints.hits import Hits, TracedFrame, ids_of
from dynascope.agent.breakpoints.kind import Named
from dynascope.agent.suspension.stop import Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.agent.tracing.time_travel.visit import Visit
from dynascope.wire.function_names import names_function_of
from dynascope.wire.messages import Message


class FunctionStops:
    """The stop check of function breakpoints; `use` is called on any thread."""

    every_instruction = False

    def __init__(self, hook: Hook, send: Callable[[Message], None], stops_in: Callable[[types.CodeType], None]) -> None:
        """Call `stops_in` with the code in which a breakpoint stops."""
        self._hook = hook
        self._hits = Hits(send)
        self._stops_in = stops_in
        self._named: Sequence[Named] = ()

    def use(self, named: Sequence[Named]) -> None:
        """Replace the breakpoints by these, each with the pattern of its name."""
        self._named = tuple(named)
        self._hook.set_check(self, bool(self._named))

    def may_stop_in(self, code: types.CodeType) -> bool:
        return any(_names(pattern, code) for pattern, _ in self._named)

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        if not activation.enters_function or activation.comes_back:
            return None
        candidates = [breakpoint for pattern, breakpoint in self._named if _names(pattern, activation.code)]
        visit = Visit(state, at_instruction=True)
        hits = self._hits.that_stop(candidates, TracedFrame(activation.translator), visit) if candidates else []
        if not hits:
            return None
        self._stops_in(activation.code)
        return Stop("function breakpoint", ids_of(hits))


def _names(pattern: str, code: types.CodeType) -> bool:
    return names_function_of(pattern, code.co_qualname, code.co_filename)
