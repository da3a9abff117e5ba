"""The state of a thread's outermost compile, dropped when that compile ends."""

from __future__ import annotations

import contextlib
import types
from typing import TYPE_CHECKING, Any

from dynascope.agent.internals.frames import translators
from dynascope.agent.program import collector
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tape.instructions import FrameId, Position, TracedInstructions
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.seen_events import SeenEvents
from dynascope.agent.tracing.time_travel.travel import Counted, Travel
from dynascope.agent.tracing.what_if.change import Change, put_in_force
from dynascope.wire.messages import Granularity, ResumeCommand

if TYPE_CHECKING:
    from dynascope.agent.internals.symbolic_shapes.shapes import SymbolFact
    from dynascope.agent.tape.tape import Tape
    from dynascope.agent.tape.tape_writer import TapeWriter


class TraceClock:
    """Tell new instructions from those of a repeated trace, which has the same positions."""

    def __init__(self) -> None:
        self.activations = 0
        """Frames entered and left in this attempt."""
        self.traced = TracedInstructions()
        self.latest: Position = 0
        """The latest position at which anything could stop; up to it nothing stops a second time."""
        self.furthest: Position = 0
        """The latest position from which the user has gone back, and to which they can go again."""
        self.codes_beyond: dict[int, types.CodeType] = {}
        """The code that was traced up to where the user has gone back, by identity."""
        self.restored_at: Position = 0
        """The position of the latest instruction that restored the stack of a resume function."""
        self._silent: Position = 0
        """The position up to which steps do not end, because the trace is repeated without the user's wish."""

    def attempt_begins(self, replays: bool) -> None:
        """Start over; `replays`: Dynamo traces again what the previous attempt traced."""
        if replays:
            self._silent = max(self._silent, self.latest)
        else:
            self.latest = self.furthest = self._silent = 0
        self.activations, self.traced, self.codes_beyond = 0, TracedInstructions(), {}

    def rewinds(self, silent: Position) -> None:
        """Start over to trace again what this attempt has traced: silently up to `silent`."""
        self.furthest = max(self.furthest, self.traced.position)
        self.codes_beyond |= {id(code): code for code in self.traced.codes.values()}
        self.activations, self.traced, self._silent = 0, TracedInstructions(), silent

    def forget_what_follows(self) -> None:
        """Let steps end again after the present position, where the trace will take another course."""
        self.latest = self._silent = self.traced.position

    def activation(self) -> None:
        """Count a frame that was entered or left."""
        self.activations += 1

    def note_position(self) -> None:
        """Record that something may stop at the present position."""
        self.latest = max(self.latest, self.traced.position)

    def is_silent(self) -> bool:
        """Whether steps do not end here."""
        return self.traced.position <= self._silent

    def traces_again(self) -> bool:
        """Whether a silent trace repeats an instruction that it does not end at."""
        return self.traced.position < self._silent


class Checkpoints:
    """The positions since which a user asks what has changed: of the previous stop, and those given a name.

    A repeated trace passes the same ones, so they stay when the user goes back.
    """

    def __init__(self) -> None:
        self.previous_stop: Position | None = None
        self.stopped_at: Position = 0
        self.named: dict[str, Position] = {}

    def stops(self, position: Position) -> None:
        """Note that the thread stops."""
        self.previous_stop, self.stopped_at = self.stopped_at or None, position

    def name(self, name: str) -> None:
        """Give the position of this stop a name."""
        self.named[name] = self.stopped_at

    def clear(self) -> None:
        """Forget all: another attempt has other positions."""
        self.previous_stop, self.stopped_at = None, 0
        self.named.clear()


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
        self.has_traced = False
        """Whether Dynamo has begun to trace a frame."""
        self.tape_writer: TapeWriter | None = None
        """Writes what becomes of each value in this attempt; None unless the thread may stop."""
        self.tape: Tape | None = None
        """What it has written."""
        self.checkpoints = Checkpoints()
        """The positions since which a user asks what has changed."""
        self.seen = SeenEvents()
        """The events that stop only once."""
        self.next_attempt_replays = False
        self.travel: Travel | None = None
        """Where the trace that is being repeated goes to."""
        self.stepped_from: dict[Position, tuple[Position, Granularity]] = {}
        """Where a `next` that ended at a position had begun."""
        self._stepping_from: tuple[Position, Granularity] | None = None
        self.reached: set[tuple[Counted, Position]] = set()
        """The breakpoints that were reached at a position: they are not reached again when it is traced again."""
        self.hits_before: dict[Counted, int] = {}
        """The hits of each breakpoint before this compile reached it."""
        self.effects: list[str] = []
        """Clauses for the user: what this compile has done outside Dynamo that a repeated trace does not undo."""
        self.effects_accepted = False
        """Whether the warning about them has been shown."""
        self.kept: list[Change] = []
        """The changes of what is compiled that the user keeps."""
        self.applied: list[Change] = []
        """Those with which the present trace began."""
        self.in_force = contextlib.ExitStack()
        """Ends those that are in force all the time."""
        self.symbols: list[SymbolFact] = []
        """The symbols where the trace ended, if data breakpoints need them."""
        self.watched_values: dict[tuple[int, int], Any] = {}
        """The value at the previous instruction, which data breakpoints compare, by breakpoint and frame."""
        self.skipped: list[tuple[types.CodeType, str]] = []
        """The frames that Dynamo has skipped since the compile began, with its reasons."""
        self._traced: list[types.CodeType] = []
        self._entered: dict[int, types.CodeType] = {}
        """The code that Dynamo has begun to trace in any attempt, by identity."""
        self.frames: dict[int, FrameId] = {}
        """Frame ids by the identity of the translator."""
        self.activations: dict[int, Activation] = {}
        """The frames that call the hook before each instruction, by the identity of the translator."""
        self.stoppable: dict[int, tuple[types.CodeType, bool]] = {}
        """Whether any check may stop in a code object, by its identity; replaced when breakpoints change."""

    def attempt_begins(self, translator: Any) -> bool:
        """Begin to trace the outermost frame; return whether that replays an earlier attempt."""
        replays, self.next_attempt_replays = self.next_attempt_replays, False
        self.outermost, self.has_traced = translator, True
        self.frames.clear()
        self.activations.clear()
        self.watched_values.clear()
        if replays and self.travel is not None:
            self.clock.rewinds(self.travel.silent_until)
            self.seen.trace_repeats(is_rehearsed=self.travel.rehearsal is not None)
        else:
            self.clock.attempt_begins(replays)
            self.seen.attempt_begins(replays)
            self.stepped_from.clear()
        if not replays:
            self.reached.clear()
            self.checkpoints.clear()
        return replays

    def attempt_restarts(self, replays: bool) -> None:
        """End the attempt with a restart; `replays`: the next one repeats the trace up to here.

        After any other restart every event may stop again, and only the step continues.
        """
        self.next_attempt_replays = True
        if not replays:
            self.clock.attempt_begins(replays=False)
            self.seen.attempt_begins(replays=False)
            self.reached.clear()
            self.checkpoints.clear()

    def trace_ends(self) -> None:
        """Keep what is needed until the compile ends, and drop the trace.

        Through it the program's values would live on.
        """
        self._traced = self.traced_codes()
        self.tape_writer = self.outermost = self.travel = None
        self.in_force.close()
        self.kept, self.applied = [], []
        self.frames.clear()
        self.activations.clear()
        self.watched_values.clear()

    def step_begins(self, command: ResumeCommand, granularity: Granularity) -> None:
        """Note where a `next` begins: going back from its end leads here."""
        self._stepping_from = (self.clock.traced.position, granularity) if command == "next" else None

    def step_ends(self, stop: Stop, at_instruction: bool) -> None:
        """Note where it ends, unless the thread stops for another reason."""
        here, origin, self._stepping_from = self.clock.traced.position, self._stepping_from, None
        if stop.reason == "step" and origin is not None and at_instruction:
            self.stepped_from[here] = origin

    def trace_repeats(self) -> None:
        """End the trace of the attempt where the user goes back, or changes what is compiled."""
        self.next_attempt_replays = True
        self.in_force.close()
        self.applied = list(self.kept)
        self.in_force = put_in_force(self.applied)

    def changes_course(self) -> bool:
        """Whether the frame is to be traced again because the user keeps other changes than before."""
        if self.kept == self.applied:
            return False
        self.clock.forget_what_follows()
        here = self.clock.traced.position
        self.reached = {(breakpoint, position) for breakpoint, position in self.reached if position <= here}
        return True

    def travel_ends(self) -> None:
        """Stop repeating the trace: from here on it is traced as usual."""
        self.travel = None
        self.seen.rehearsal_ends()
        collector.let_go()

    def frame_entered(self, code: types.CodeType) -> None:
        """Note that Dynamo begins to trace a frame, or goes on."""
        self._entered[id(code)] = code

    def traced_codes(self) -> list[types.CodeType]:
        """Return the code traced to its end in this attempt, inlined calls included."""
        return self._traced if self.outermost is None else translators.traced_codes(self.outermost)

    def abandoned_codes(self) -> list[types.CodeType]:
        """Return the code traced in vain, to its end or not, in a compile that failed."""
        codes = self.traced_codes()
        known = set(map(id, codes))
        return [*codes, *(code for key, code in self._entered.items() if key not in known)]
