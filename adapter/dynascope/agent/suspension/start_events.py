"""Function starts that a compiling thread need not report to a debugger (Python 3.12, `sys.monitoring`).

pydevd is told of every function start while there is a breakpoint, and has those it does not want switched off one by
one; but not on a thread whose tracing is off, for another thread may want them. Dynamo's would cost a quarter of a
compile then. While it compiles we answer for that thread, and switch off what the debugger would have.
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

    def __init__(self, wants: Callable[[types.CodeType], bool]) -> None:
        """`wants`: whether the debugger may want to stop in this code, on any thread."""
        self._wants = wants
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._lock = threading.Lock()
        self._compiling: set[int] = set()
        self._debuggers: Started | None = None

    def begin(self) -> None:
        with self._lock:
            if self._monitoring is not None and not self._compiling:
                self._debuggers = self._register(self._started)
            self._compiling.add(threading.get_ident())

    def end(self) -> None:
        with self._lock:
            self._compiling.discard(threading.get_ident())
            if self._monitoring is None or self._compiling:
                return
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
        if threading.get_ident() in self._compiling:
            return None if self._wants(code) else self._monitoring.DISABLE
        debuggers = self._debuggers
        return None if debuggers is None else debuggers(code, offset)
