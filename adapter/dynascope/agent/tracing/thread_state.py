"""What each thread of the program is doing at compile time."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.suspension.interface import LinePassed
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.replays import Moments
from dynascope.agent.tracing.stepping import FrameId, Stepping


class ThreadTracing:
    """State of one compiling thread; written by that thread, except `looking`, which anybody may set."""

    def __init__(self) -> None:
        self.stepping = Stepping()
        self.step_package: str | None = None
        """Folder of the package that the step began in: its files are shown to steps as the user's own are."""
        self.passed: list[LinePassed] = []
        """The lines where the step began."""
        self.thread_id = 0
        """DAP's."""
        self.depth = 0
        self.compile_token: Any = None
        self.outermost: Any = None
        """The translator of the frame being compiled."""
        self.backend: str | None = None
        """The backend that works on the graph of that frame, since Dynamo gave it one."""
        self.events = 0
        """Frames entered and left in this attempt: with `ticks`, a clock that runs alike in every replay."""
        self.ticks = 0
        self.high_water = (0, 0)
        """The latest moment that attempts before this one, or this one, have reached: what is not later is a replay."""
        self.high_breakpoint = 0
        """Likewise, of calls to `comptime.breakpoint()`."""
        self.moments = Moments()
        """Of what stops amid an instruction."""
        self.values: dict[tuple[int, int], Any] = {}
        """What data breakpoints compare, by breakpoint and frame: each value as it was at the instruction before."""
        self.is_held = False
        """It waits at a stop: what happens on it meanwhile is the debugger's doing."""
        self.replays = False
        self.looking = False
        """Stop at the next instruction if the suspension wants it."""
        self.stops_on_entry = False
        self.at_start: tuple[types.CodeType, Callable[[list[Any]], bool]] | None = None
        """What to call at the first instruction of a compile of this code, with the stack; whether it has stopped."""
        self.skipped: list[tuple[types.CodeType, str]] = []
        """Frames that Dynamo skipped since the outermost compile began, with its reasons."""
        self.frames: dict[int, FrameId] = {}
        self.activations: dict[int, Activation] = {}

    def note_moment(self) -> bool:
        """Whether this moment of the trace is new, and no replay after a restart."""
        now = self.events, self.ticks
        if now <= self.high_water:
            return False
        self.high_water = now
        return True

    def starts(self, activation: Activation) -> bool:
        """At the first instruction of a compile: call what waits for it; whether that has stopped."""
        waiting, self.at_start = self.at_start, None
        if waiting is None or waiting[0] is not activation.code or not waiting[1]([activation.translator]):
            return False
        self.note_moment()
        return True

    def forget_compile(self) -> None:
        """The outermost compile is over: keep nothing of it alive."""
        self.outermost = self.backend = None
        self.replays = False
        self.at_start = None
        self.high_water, self.high_breakpoint = (0, 0), 0
        self.moments.attempt_begins(replays=False)
        self.values.clear()
        self.events = self.ticks = 0
        self.skipped = []
        self.frames.clear()
        self.activations.clear()


class Threads:
    """By thread ident; a thread that never compiles has no entry."""

    def __init__(self) -> None:
        self._by_ident: dict[int, ThreadTracing] = {}

    def current(self) -> ThreadTracing:
        ident = threading.get_ident()
        state = self._by_ident.get(ident)
        if state is None:
            state = self._by_ident[ident] = ThreadTracing()
        return state

    def traced_now(self) -> list[types.CodeType]:
        """The code that the compile of this thread has traced so far."""
        outermost = self.current().outermost
        return [] if outermost is None else tracing.traced_codes(outermost)

    def traced_by_compiles(self) -> list[list[types.CodeType]]:
        """The code that each compile under way has traced so far; any thread."""
        outermost = [state.outermost for _, state in self.items()]
        return [tracing.traced_codes(translator) for translator in outermost if translator is not None]

    def compiling(self) -> list[int]:
        """DAP's ids of the threads on which Dynamo traces now; from any thread."""
        return [state.thread_id for _, state in self.items() if state.outermost is not None]

    def codes_being_compiled(self) -> list[types.CodeType]:
        """One for each thread that compiles."""
        outermost = [state.outermost for _, state in self.items()]
        return [tracing.code_of(translator) for translator in outermost if translator is not None]

    def existing(self) -> ThreadTracing | None:
        return self._by_ident.get(threading.get_ident())

    def items(self) -> list[tuple[int, ThreadTracing]]:
        return list(self._by_ident.items())
