"""Function starts that nobody need be told of while Dynamo traces (Python 3.12, `sys.monitoring`).

pydevd is told of every function start while there is a breakpoint, and has those it does not want switched off one by
one; but not on a thread whose tracing is off, for another thread may want them. Dynamo's would cost a quarter of a
compile then. While a thread compiles we answer in its place, as it would on a thread that it traces. Its own callback
is never called from ours: it takes the caller's frame for the function's.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

Started = Callable[[types.CodeType, int], Any]


class StartEvents:
    """`begin` and `end` are called on the thread that compiles, in pairs."""

    def __init__(self, lines_of: Callable[[types.CodeType], bool], starts_matter: Callable[[], bool]) -> None:
        """`lines_of`: whether the debugger has a breakpoint on a line of this code. `starts_matter`: whether it has to
        be told of starts themselves, as for a step or a function breakpoint: it then keeps its callback.
        """
        self._lines_of = lines_of
        self._starts_matter = starts_matter
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._lock = threading.Lock()
        self._compiles = 0
        self._debuggers: Started | None = None
        self._replaced = False

    def begin(self) -> None:
        with self._lock:
            self._compiles += 1
            if self._monitoring is not None and not self._replaced and not self._starts_matter():
                self._debuggers = self._register(self._started)
                self._replaced = True

    def end(self) -> None:
        with self._lock:
            self._compiles -= 1
            if self._compiles == 0 and self._replaced:
                self._replaced = False
                found = self._register(self._debuggers)
                if found != self._started:
                    self._register(found)  # the debugger has changed it since

    def _register(self, callback: Started | None) -> Started | None:
        monitoring = self._monitoring
        registered: Started | None = monitoring.register_callback(
            monitoring.DEBUGGER_ID, monitoring.events.PY_START, callback
        )
        return registered

    def _started(self, code: types.CodeType, offset: int) -> Any:
        monitoring = self._monitoring
        if not self._lines_of(code):
            return monitoring.DISABLE
        tool, events = monitoring.DEBUGGER_ID, monitoring.events
        monitoring.set_local_events(tool, code, monitoring.get_local_events(tool, code) | events.LINE | events.JUMP)
        return None
