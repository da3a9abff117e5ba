"""Turn pydevd's tracing off on a thread while Dynamo traces there, to keep compiling fast.

It stays off where Dynamo has generated code that pydevd cannot trace: pydevd would raise into the program.
"""

from __future__ import annotations

import inspect
import itertools
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.codegen.generated import NewGeneratedCode
from dynascope.agent.isolation.containment import refuse_if_contained
from dynascope.agent.suspension.debugpy.resuming import Replace

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
    """Return the frames of a thread, innermost first; again if a generator yielded meanwhile."""
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
