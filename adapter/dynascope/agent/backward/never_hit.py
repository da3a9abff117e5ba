"""Why breakpoints of the backward were never hit, after each backward and at program exit.

A name may be mistyped, or belong to a node of a later backward.
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from dynascope.agent.backward.table import BY_NAME, BackwardTable, names_backward, node_call_named
from dynascope.agent.breakpoints.breakpoint import AgentBreakpoint
from dynascope.agent.breakpoints.outlook import why_not_stopped
from dynascope.agent.events.torch_names import HOOK_CALLS
from dynascope.wire.dap import Breakpoint
from dynascope.wire.from_agent import BreakpointChanged
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.backward.captures.capture_in_progress import LiveCapture

_ALIKE = 0.8
"""How similar a name must be to be proposed, as difflib measures it."""
_SHOWN = 12
"""Names listed if none is similar to the requested one."""
_NOT_CAPTURED = (
    "No backward was captured: compiled autograd was off, or each backward was in its cache before. `compiledAutograd` "
    "in a launch configuration and `dynascope debug --compiled-autograd` turn it on."
)


class NeverHit:
    """Record captured backwards on the threads that ran them; read when the program ends."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._captures = 0
        self._node_calls = 0
        self._names: dict[str, None] = {}
        self._told: dict[int, str] = {}

    def captured(self, live: LiveCapture, table: BackwardTable) -> None:
        """Report whether backwards up to this captured one had the names of breakpoints."""
        with self._lock:
            self._captures += 1
            self._node_calls = max([self._node_calls, *live.capture.names])
            self._names |= dict.fromkeys(_names_of(live))
            for pattern, breakpoint in table.names:
                message = BY_NAME if breakpoint.reached else self._missing(pattern)
                if names_backward(pattern) and self._told.get(breakpoint.id, BY_NAME) != message:
                    self._told[breakpoint.id] = message
                    self._send(BreakpointChanged(Breakpoint(id=breakpoint.id, verified=True, message=message)))

    def at_exit(self, table: BackwardTable) -> list[Breakpoint]:
        """Return the states of breakpoints that never stopped, with the reason."""
        with self._lock:
            named = [
                Breakpoint(id=breakpoint.id, verified=True, message=why)
                for pattern, breakpoint in table.names
                if names_backward(pattern) and (why := self._why(breakpoint, self._missing(pattern)))
            ]
            at_lines = [
                Breakpoint(id=breakpoint.id, verified=True, line=breakpoint.line, message=why)
                for lines in table.lines.values()
                for at in lines.values()
                for breakpoint in at
                if (why := self._why(breakpoint, _NOT_MADE))
            ]
        return named + at_lines

    def _why(self, breakpoint: AgentBreakpoint, unreached: str) -> str | None:
        if breakpoint.has_stopped:
            return None
        if not self._captures:
            return _NOT_CAPTURED
        return why_not_stopped(breakpoint, "A backward") if breakpoint.reached else unreached

    def _missing(self, pattern: str) -> str:
        if node_call_named(pattern) is not None:
            return f"No backward so far has it: the longest goes to NodeCall {self._node_calls}."
        if pattern in HOOK_CALLS:
            return f"No backward so far ({self._captures} captured) has any {pattern}."
        text = f"No node, hook or pass of a backward so far ({self._captures} captured) is called {pattern}"
        alike = difflib.get_close_matches(pattern, self._names, 1, _ALIKE)
        if alike:
            return f"{text}. Did you mean {alike[0]}?"
        nodes = [name for name in self._names if "Backward" in name or "Grad" in name]
        more = ", …" if len(nodes) > _SHOWN else ""
        return f"{text}; its nodes are {', '.join(nodes[:_SHOWN])}{more}."


_NOT_MADE = (
    "Nothing in the backwards that were captured was made by this line: it did not run since the breakpoint was set, "
    "runs compiled, or makes nothing that has a gradient."
)


def _names_of(live: LiveCapture) -> list[str]:
    """Return all names in this backward that a breakpoint may have."""
    return [
        *(name.rpartition("::")[2] for name in live.capture.names.values()),
        *(f"{function}.backward" for function in live.functions.values()),
        *(hook.kind for hook in live.capture.hooks),
        *(each.name for each in live.passes),
    ]
