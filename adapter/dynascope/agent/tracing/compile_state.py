"""The state of a thread's outermost compile, dropped when that compile ends."""

from __future__ import annotations

import sys
import types
from typing import Any

from dynascope.agent.internals.frames import translators
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.replays import Replays
from dynascope.agent.tracing.stepping import FrameId


class TraceClock:
    """Count frame activations and instructions; a replay of an attempt repeats the same counts."""

    def __init__(self) -> None:
        self.activations = 0
        """Frames entered and left in this attempt."""
        self._instructions = 0
        """Instructions counted since the last of them."""
        self._latest = (0, 0)
        """The latest position reached by this attempt or by one that it replays."""

    def attempt_begins(self, replays: bool) -> None:
        """Start over; `replays`: Dynamo traces again what the previous attempt traced."""
        self.activations = self._instructions = 0
        if not replays:
            self._latest = (0, 0)

    def activation(self) -> None:
        """Count a frame that was entered or left."""
        self.activations += 1
        self._instructions = 0

    def instruction(self) -> None:
        """Count an instruction."""
        self._instructions += 1

    def is_new(self) -> bool:
        """Whether no attempt has reached the present position before; record it."""
        now = self.activations, self._instructions
        if now <= self._latest:
            return False
        self._latest = now
        return True

    def skip_to_here(self) -> None:
        """Treat everything up to here as a replay, since Dynamo is about to trace it again."""
        self._latest = self.activations, sys.maxsize


class CompileState:
    """The state of one outermost compile; used only on its thread, except `stoppable`."""

    def __init__(self) -> None:
        self.suspension_token: Any = None
        """The return value of `Suspension.compile_begins`."""
        self.outermost: Any = None
        """The translator of the frame being compiled; None before Dynamo traces and between attempts."""
        self.backend: str | None = None
        """The name of the backend that compiles the graph of that frame, once Dynamo has called it."""
        self.clock = TraceClock()
        self.latest_comptime_call = 0
        """The clock's activations at the latest call of `comptime.breakpoint()` that stopped."""
        self.replays = Replays()
        """The replays of events that happen during an instruction."""
        self.next_attempt_replays = False
        self.watched_values: dict[tuple[int, int], Any] = {}
        """The value at the previous instruction, which data breakpoints compare, by breakpoint and frame."""
        self.skipped: list[tuple[types.CodeType, str]] = []
        """The frames that Dynamo has skipped since the compile began, with its reasons."""
        self.frames: dict[int, FrameId] = {}
        """Frame ids by the identity of the translator."""
        self.activations: dict[int, Activation] = {}
        """The frames that call the hook before each instruction, by the identity of the translator."""
        self.stoppable: dict[int, tuple[types.CodeType, bool]] = {}
        """Whether any check may stop in a code object, by its identity; replaced when breakpoints change."""

    def attempt_begins(self, translator: Any) -> bool:
        """Begin to trace the outermost frame; return whether that replays an earlier attempt."""
        replays, self.next_attempt_replays = self.next_attempt_replays, False
        self.outermost = translator
        self.frames.clear()
        self.activations.clear()
        self.watched_values.clear()
        self.clock.attempt_begins(replays)
        self.replays.attempt_begins(replays)
        if not replays:
            self.latest_comptime_call = 0
        return replays

    def attempt_restarts(self, replays: bool) -> None:
        """End the attempt with a restart; `replays`: the next one repeats the trace up to here.

        After any other restart every event may stop again, and only the step continues.
        """
        self.next_attempt_replays = True
        if not replays:
            self.clock.attempt_begins(replays=False)
            self.latest_comptime_call = 0
            self.replays.attempt_begins(replays=False)

    def traced_codes(self) -> list[types.CodeType]:
        """Return the code traced in this attempt, inlined calls included."""
        return [] if self.outermost is None else translators.traced_codes(self.outermost)
