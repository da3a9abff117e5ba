"""What is known of the outermost compile of a thread while it lasts; dropped whole when it ends."""

from __future__ import annotations

import sys
import types
from typing import Any

from dynascope.agent.internals.frames import translators
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.replays import Replays
from dynascope.agent.tracing.stepping import FrameId


class TraceClock:
    """Counts frame activations and instructions; a replay of an attempt counts the same again."""

    def __init__(self) -> None:
        self.activations = 0
        """Frames entered and left in this attempt."""
        self._instructions = 0
        """Instructions that were looked at since the last of them."""
        self._latest = (0, 0)
        """The latest moment that this attempt, or one that it replays, has reached."""

    def attempt_begins(self, replays: bool) -> None:
        """Start over; `replays`: Dynamo traces again what the attempt before has traced."""
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
        """Note this moment; whether no attempt has reached it before."""
        now = self.activations, self._instructions
        if now <= self._latest:
            return False
        self._latest = now
        return True

    def skip_to_here(self) -> None:
        """Treat everything up to here as a replay: Dynamo is about to trace it again, and nothing is new in it."""
        self._latest = self.activations, sys.maxsize


class CompileState:
    """State of one outermost compile and of its attempts; used on its thread alone, but for `stoppable`."""

    def __init__(self) -> None:
        self.suspension_token: Any = None
        """What `Suspension.compile_begins` returned."""
        self.outermost: Any = None
        """The translator of the frame being compiled; None before Dynamo traces and in between attempts."""
        self.backend: str | None = None
        """The name of the backend that works on the graph of that frame, once Dynamo has called it."""
        self.clock = TraceClock()
        self.latest_comptime_call = 0
        """The clock's activations at the latest call of `comptime.breakpoint()` that has stopped."""
        self.replays = Replays()
        """Of what happens during an instruction."""
        self.next_attempt_replays = False
        self.watched_values: dict[tuple[int, int], Any] = {}
        """What data breakpoints compare, by breakpoint and frame: the value at the instruction before."""
        self.skipped: list[tuple[types.CodeType, str]] = []
        """Frames that Dynamo has skipped since the compile began, with its reasons."""
        self.frames: dict[int, FrameId] = {}
        """By the identity of the translator."""
        self.activations: dict[int, Activation] = {}
        """Of the frames that call the hook before each instruction, by the identity of the translator."""
        self.stoppable: dict[int, tuple[types.CodeType, bool]] = {}
        """Whether some check may stop in this code, by its identity; replaced when breakpoints change."""

    def attempt_begins(self, translator: Any) -> bool:
        """Begin to trace the outermost frame; whether that replays an attempt before."""
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
        """The attempt ends with a restart; `replays`: the next one traces the same again up to where it ended.

        After any other restart everything stops anew, and only the step goes on.
        """
        self.next_attempt_replays = True
        if not replays:
            self.clock.attempt_begins(replays=False)
            self.latest_comptime_call = 0
            self.replays.attempt_begins(replays=False)

    def traced_codes(self) -> list[types.CodeType]:
        """Return the code that was traced in this attempt, inlined calls included."""
        return [] if self.outermost is None else translators.traced_codes(self.outermost)
