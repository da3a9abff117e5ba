"""Turn pydevd's tracing off on a thread while it imports a library, which otherwise takes half as long again.

The import of torch and transformers calls millions of functions, and pydevd's tracer sees each call. Tracing is on
again in every file of the user that is imported meanwhile, and in every file with a breakpoint. On Python 3.12
StartEvents answers in place of pydevd, for every function. On 3.11 one thing is not traced: a function of the user
that was defined before, and that a library calls while it is imported (a signal handler, an import hook).
"""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable, Collection
from typing import Any

from dynascope.agent.program.user_code import OUR_FOLDER, is_user_code, real_path
from dynascope.agent.suspension.debugpy.tracing_off import StartEvents

NAME = "_call_with_frames_removed"
"""importlib's name; it calls `exec` with the code of each imported file. A traceback leaves its frames out."""
_SOURCE = f"""
def {NAME}(f, *args, **kwds):
    after = before(args[0]) if f is exec else None
    if after is None:
        return f(*args, **kwds)
    try:
        return f(*args, **kwds)
    finally:
        after()
"""


class LibraryImports:
    """Turn tracing off from the first line of a library's file to its last."""

    def __init__(
        self,
        debugger: Any,
        start_events: StartEvents,
        starts_matter: Callable[[], bool],
        breakpoints_in: Callable[[str], Collection[int]],
    ) -> None:
        """Take pydevd, and two of PydevdSuspension's questions.

        They are whether function starts matter themselves, as for a step, and which lines of a file have breakpoints.
        """
        self._debugger, self._start_events = debugger, start_events
        self._starts_matter, self._breakpoints_in = starts_matter, breakpoints_in
        self._off: dict[int, Callable[[], None]] = {}
        """The function that turns tracing on again, for the ident of each thread on which it is off."""
        self._executed: dict[str, set[str]] = {}
        """The imported files of libraries, by the last part of their paths."""
        for module in list(sys.modules.values()):
            self._add(getattr(module, "__dict__", {}).get("__file__"))

    def wrapped(self) -> Callable[..., Any]:
        """Return the function to use in place of importlib's; tracebacks stay the same."""
        names = {"before": self._before, "exec": exec}
        exec(compile(_SOURCE, "<frozen importlib._bootstrap>", "exec"), names)
        wrapped: Callable[..., Any] = names[NAME]  # type: ignore[assignment]
        return wrapped

    def _before(self, code: types.CodeType) -> Callable[[], None] | None:
        """Turn tracing off or on for the code of a file; return the function to call after it."""
        path, thread = code.co_filename, threading.get_ident()
        if self._stops_in(path):
            self._turn_on(thread)  # and leave it on, because the library may call what this file defines
            return None
        self._add(path)
        if thread in self._off or not self._may_turn_off() or not self._turn_off(thread):
            return None
        return lambda: self._turn_on(thread)

    def _stops_in(self, path: str) -> bool:
        if is_user_code(path):
            real = real_path(path)
            if is_user_code(real) and not real.startswith(OUR_FOLDER):
                return True
        return bool(self._breakpoints_in(path))

    def _may_turn_off(self) -> bool:
        debugger = self._debugger
        return not (
            self._starts_matter()
            or debugger.break_on_caught_exceptions
            or debugger.break_on_user_uncaught_exceptions
            or debugger.has_plugin_exception_breaks
            or any(map(self._is_executed, [path for path, lines in list(debugger.breakpoints.items()) if lines]))
        )

    def _is_executed(self, path: str) -> bool:
        """Whether this file (a real path) is a library's that was imported, and may be called."""
        names = () if is_user_code(path) else self._executed.get(os.path.basename(path), ())
        return any(real_path(name) == path for name in names)

    def _add(self, path: str | None) -> None:
        if path:
            self._executed.setdefault(path.rpartition(os.sep)[2], set()).add(path)

    def _turn_off(self, thread: int) -> bool:
        """Turn tracing off; return False where it is off already, as during a compile."""
        if hasattr(sys, "monitoring"):
            self._start_events.begin()
            self._off[thread] = self._start_events.end
            return True
        tracer = sys.gettrace()
        if not type(tracer).__module__.startswith("_pydevd") and "pydevd" not in getattr(tracer, "__module__", ""):
            return False
        self._debugger.disable_tracing()
        self._off[thread] = self._trace_again
        return True

    def _turn_on(self, thread: int) -> None:
        turn_on = self._off.pop(thread, None)
        if turn_on is not None:
            turn_on()

    def _trace_again(self) -> None:
        if sys.gettrace() is None and not self._debugger.pydb_disposed:  # pydevd turns it on for a new breakpoint
            self._debugger.enable_tracing()
