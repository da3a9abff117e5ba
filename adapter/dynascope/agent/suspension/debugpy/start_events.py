"""Filter function-start events while Dynamo traces (Python 3.12, `sys.monitoring`).

While there is a breakpoint, pydevd receives every function start and disables those it does not need one by one, but
not on a thread whose tracing is off, since another thread may need them. Dynamo's events would then cost a quarter of a
compile. While a thread compiles, StartEvents answers instead, as pydevd would on a thread that it traces. pydevd's
callback is never called from here: it takes the caller's frame for the function's.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

Started = Callable[[types.CodeType, int], Any]


class StartEvents:
    """Replace pydevd's callback from `begin` to `end`, called in pairs on compiling threads."""

    def __init__(self, lines_of: Callable[[types.CodeType], bool], starts_matter: Callable[[], bool]) -> None:
        """Take `lines_of`, whether the debugger has a breakpoint in code, and `starts_matter`.

        It is true when function starts matter themselves, as for a step: the debugger then keeps its callback."""
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
                callback = self._register(self._debuggers)
                if callback != self._started:
                    self._register(callback)  # the debugger has changed it since

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
