"""Turn pydevd's tracing off on a thread while Dynamo traces there, or while it imports a library; and on again.

The import of torch and transformers calls millions of functions, and pydevd's tracer sees each call: it would take half
as long again. Tracing is on again in every file of the user that is imported during that time, and in every file with a
breakpoint. On Python 3.12 StartEvents answers in place of pydevd, for every function. On 3.11 one thing is not traced:
a function of the user that was defined before, and that a library calls while it is imported (a signal handler, an
import hook). Tracing stays off where Dynamo has generated code that pydevd cannot trace: pydevd would raise into the
program.
"""

from __future__ import annotations

import inspect
import itertools
import os
import sys
import threading
import types
from collections.abc import Callable, Collection
from typing import Any

from dynascope.agent.internals.codegen.generated import NewGeneratedCode
from dynascope.agent.isolation.containment import refuse_if_contained
from dynascope.agent.program.user_code import OUR_FOLDER, is_user_code, real_path
from dynascope.agent.suspension.debugpy.resuming import Replace

Started = Callable[[types.CodeType, int], Any]


class StartEvents:
    """Replace pydevd's callback from `begin` to `end`, called in pairs on compiling threads.

    While there is a breakpoint, pydevd receives every function start and disables those it does not need one by one,
    but not on a thread whose tracing is off, since another thread may need them. Dynamo's events would then cost a
    quarter of a compile. pydevd's callback is never called from here: it takes the caller's frame for the function's.
    """

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


class TracingOff:
    """Turn tracing off at the `begin` of each outermost compile and on at its `end`."""

    def __init__(
        self, debugger: Any, has_breakpoint_in: Callable[[types.CodeType], bool], starts_matter: Callable[[], bool]
    ) -> None:
        self._debugger = debugger
        self._generated_code = NewGeneratedCode()
        self.start_events = StartEvents(has_breakpoint_in, starts_matter)
        self._untraced: set[int] = set()
        """The idents of the threads on which tracing stays off."""
        self._off: set[int] = set()
        """The idents of the threads between `begin` and `end`."""

    @property
    def stays_off(self) -> bool:
        """Whether the current thread is no longer traced."""
        return threading.get_ident() in self._untraced

    @property
    def is_off(self) -> bool:
        """Whether tracing is off on the current thread, for a compile."""
        return threading.get_ident() in self._off

    def begin(self) -> None:
        self._off.add(threading.get_ident())
        self._debugger.disable_tracing()
        self.start_events.begin()

    def end(self) -> None:
        self._off.discard(threading.get_ident())
        self.start_events.end()
        if not self._debugger.pydb_disposed and not self.stays_off:
            self._debugger.enable_tracing()

    def trace_generated_code(self) -> str | None:
        """Leave this thread untraced if it has new unhashable code; return a text for the user."""
        code, thread = self._generated_code.new_unhashable(), threading.current_thread()
        if code is None or thread.ident is None or thread.ident in self._untraced:
            return None
        self._untraced.add(thread.ident)
        return (
            f"{code.co_filename}:{code.co_firstlineno}: debugpy cannot trace the code that Dynamo generated for "
            f"{code.co_name} (constants without a hash) and would break the program. From here on only compile-time "
            f"stops work on the thread {thread.name}.\n"
        )


_YIELDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_ATTEMPTS = 10


def correct_running_frames(debugger: Any, replace: Replace) -> None:
    """Trace all frames of other threads; refuse `debugpy.breakpoint()` in an expression.

    pydevd would resume the stopped thread; the call is refused before pydevd changes its state of the thread.

    For a new breakpoint pydevd goes through the frames of every thread, from caller to caller, while those run on. A
    generator that yields meanwhile has no caller any more: pydevd would end there, and no breakpoint in a function
    below it that runs already, such as a loop, would ever stop.
    """
    set_trace = debugger.set_trace_for_frame_and_parents

    def set_trace_for_frame_and_parents(ident: int | None, frame: Any, **named: Any) -> None:
        refuse_if_contained("debugpy.breakpoint()")
        begins = [frame]
        if ident is not None and ident != threading.get_ident():
            stack = _stack(ident)
            begins = stack[:1] + [caller for each, caller in itertools.pairwise(stack) if _yields(each)]
        for each in begins:
            set_trace(ident, each, **named)

    replace(debugger, "set_trace_for_frame_and_parents", set_trace_for_frame_and_parents)


def _stack(ident: int) -> list[types.FrameType]:
    """Return the frames of a thread, innermost first; read them again if a generator yields."""
    stack: list[types.FrameType] = []
    for _ in range(_ATTEMPTS):
        frame, stack = sys._current_frames().get(ident), []
        while frame is not None:
            stack.append(frame)
            frame = frame.f_back
        if not stack or not _yields(stack[-1]):
            break
    return stack


def _yields(frame: types.FrameType) -> bool:
    return bool(frame.f_code.co_flags & _YIELDS)


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
