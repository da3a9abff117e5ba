"""The compile-time state of each thread of the program."""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Iterator
from typing import Any

from dynascope.agent.internals.frames import translators
from dynascope.agent.program.clock import this_threads_clock
from dynascope.agent.suspension.interface import LinePassed
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.stepping import Stepping


class ThreadState:
    """The state of one thread, written only there; `pause_pending` is set by any thread."""

    def __init__(self) -> None:
        self._clock = this_threads_clock()
        self.compile: CompileState | None = None
        self.depth = 0
        """The number of eval-frame callback calls in progress; a compile may cause another."""
        self.thread_id = 0
        """DAP's id of the thread."""
        self.stepping = Stepping()
        self.step_package: str | None = None
        """The folder of the package in which the step began: steps stop in its files as in the user's own."""
        self.steps_into_call = False
        """Whether the user has chosen the call that the step enters: it stops in any file then."""
        self.new_compile: str | None = None
        """For the user, which compile the step in progress has continued in."""
        self.step_lines: list[LinePassed] = []
        """The lines at which the step began."""
        self.stops_on_entry = False
        """Whether the step in progress ends as `stopOnEntry`."""
        self.stops_at_compile_time = False
        """Whether the thread is at one of its own stops, from before the stop is reported."""
        self.pause_pending = False
        """Whether to stop at the next instruction if the suspension still requests it."""

    @property
    def is_stopped(self) -> bool:
        """Whether the thread is at a stop, at run time too.

        Code that it runs is then the debugger's, of an expression or a signal handler's.
        """
        return self.stops_at_compile_time or self._clock.stands

    @property
    def outermost(self) -> Any:
        """Return the translator of the frame being compiled, or None."""
        return None if self.compile is None else self.compile.outermost

    @property
    def backend(self) -> str | None:
        """Return the name of the backend that compiles its graph, once Dynamo has called it."""
        return None if self.compile is None else self.compile.backend

    @contextlib.contextmanager
    def at_stop(self) -> Iterator[None]:
        """End the step: the thread stops while the block runs."""
        self.stepping.cancel()
        self.new_compile = None
        self.stops_at_compile_time = True
        try:
            yield
        finally:
            self.stops_at_compile_time = False

    def begin_compile(self) -> CompileState:
        """Return the state of the compile in progress, creating it if there is none."""
        if self.compile is None:
            self.compile = CompileState()
        return self.compile


class ThreadStates:
    """The states of the threads by ident; a thread that never compiles has none."""

    def __init__(self) -> None:
        self._by_ident: dict[int, ThreadState] = {}

    def current(self) -> ThreadState:
        """Return the state of this thread, creating it if there is none."""
        ident = threading.get_ident()
        state = self._by_ident.get(ident)
        if state is None:
            state = self._by_ident[ident] = ThreadState()
        return state

    def existing(self) -> ThreadState | None:
        """Return the state of this thread, if it has one."""
        return self._by_ident.get(threading.get_ident())

    def items(self) -> list[tuple[int, ThreadState]]:
        """Return the ident and state of each thread; called on any thread."""
        return list(self._by_ident.items())

    def compiling(self) -> list[int]:
        """Return the DAP ids of the threads on which Dynamo traces now; called on any thread."""
        return [state.thread_id for _, state in self.items() if state.outermost is not None]

    def traced_now(self) -> list[types.CodeType]:
        """Return the code that this thread's compile has traced so far."""
        state = self.current()
        return [] if state.compile is None else state.compile.traced_codes()

    def traced_by_compiles(self) -> list[list[types.CodeType]]:
        """Return the code that each compile in progress has traced so far; called on any thread."""
        return [translators.traced_codes(outermost) for outermost in self._outermost()]

    def codes_being_compiled(self) -> list[types.CodeType]:
        """Return the code of the frame that each thread compiles; called on any thread."""
        return [translators.code_of(outermost) for outermost in self._outermost()]

    def _outermost(self) -> list[Any]:
        return [outermost for _, state in self.items() if (outermost := state.outermost) is not None]
