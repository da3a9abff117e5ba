"""Between Dynamo and the debugger: at every frame and every line Dynamo traces, is this a place to stop?

Everything here runs on the compiling thread and is contained: an error of ours is reported, the compile goes on. With
no breakpoint, step or pause a frame costs two dictionary look-ups; a frame that cannot stop is never watched.
"""

from __future__ import annotations

import functools
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

from dynascope.agent.breakpoints.breakpoint import Breakpoint, Table, kind_of
from dynascope.agent.breakpoints.hits import Hits
from dynascope.agent.internals.compile import convert_frame
from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.stops.stops import Stops
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.instruction_callbacks import Watching
from dynascope.agent.tracing.runtime_frames import ProgramBelow
from dynascope.agent.tracing.step_continuation import Entering
from dynascope.agent.tracing.stepping import Mode
from dynascope.agent.tracing.stop_thread import Holding
from dynascope.agent.tracing.thread_state import Threads, ThreadTracing
from dynascope.wire.from_agent import Output
from dynascope.wire.messages import Message, StopReason

_ERRORS_REPORTED = 5

FindChanges = Callable[[ThreadTracing, Activation], tuple[list[int], str] | None]
"""Ids of the breakpoints that stop because of a change, and what changed, for the user."""


class Hook:
    """Installed once torch._dynamo is imported; `remove` leaves no trace of it."""

    def __init__(
        self,
        suspension: Suspension,
        stops: Stops,
        send: Callable[[Message], None],
        on_compiled: Callable[[list[types.CodeType], list[tuple[types.CodeType, str]]], None] = lambda *what: None,
        on_first_compile: Callable[[], None] = lambda: None,
        on_hit: Callable[[types.CodeType, list[int]], None] = lambda *what: None,
    ) -> None:
        self.table = Table()
        self.threads = Threads()
        self.watching = Watching(self.threads, self._instruction, self._report)
        self.enabled = True
        self.frames_entered = 0
        """How often Dynamo called us: 0 after a compile means that this torch's hooks have moved."""
        self._suspension = suspension
        self._stops = stops
        self._send = send
        self._hits = Hits(send)
        # the code traced in an outermost compile, and the frames skipped, with Dynamo's reasons
        self._on_compiled = on_compiled
        self._on_first_compile: Callable[[], None] | None = on_first_compile
        # the code a breakpoint stops in, and the breakpoints
        self._on_hit = on_hit
        self._errors = 0
        self.find_changes: FindChanges | None = None
        """Asked before every instruction of every frame while a data breakpoint waits for a value to change."""
        self.on_skipped: Callable[[ThreadTracing, Any, str], None] | None = None
        """Called with Dynamo's view of a frame that it has answered for without tracing it, and its reason."""
        self._activation_hooks = tracing.ActivationHooks(self._entered, self._left)
        self.compile_hooks = convert_frame.CompileHooks(self)
        self._below = ProgramBelow(self.compile_hooks, suspension)
        self.entering = Entering(suspension, self._below)
        holding = Holding(stops, self._below, self.watching.watch)
        self.hold, self.hold_at_entry = holding.hold, holding.hold_at_entry

    def remove(self) -> None:
        self.enabled = False
        self.compile_hooks.remove()
        self._activation_hooks.remove()

    def _report(self) -> None:
        self._errors += 1
        if self._errors <= _ERRORS_REPORTED:
            text = f"dynascope failed while Dynamo traced; the compile goes on.\n{traceback.format_exc()}"
            self._send(Output(category="important", output=text))

    # ---- the outermost compile of a thread (convert_frame.Observer)

    def compile_begins(self) -> None:
        try:
            if self._on_first_compile is not None:
                first, self._on_first_compile = self._on_first_compile, None
                first()
            state = self.threads.current()
            state.depth += 1
            if state.depth == 1 and self.enabled:
                state.compile_token = self._suspension.compile_begins()
                state.thread_id = self._suspension.thread_id()
                self._stops.compile_begins()
        except Exception:
            self._report()

    def compile_ends(self, frame: Any, compiled: bool, skip_reason: str | None) -> None:
        try:
            state = self.threads.current()
            if skip_reason is not None and self.on_skipped is not None and state.outermost is None:
                on_skipped = self.on_skipped
                self.aside(lambda state: on_skipped(state, frame, skip_reason))
            state.depth -= 1
            if skip_reason is not None:
                state.skipped.append((frame.f_code, skip_reason))
            if state.depth == 0:
                self._outermost_ends(state, compiled)
        except Exception:
            self._report()

    def _outermost_ends(self, state: ThreadTracing, compiled: bool) -> None:
        compile_token, state.compile_token = state.compile_token, None
        self._suspension.compile_ends(compile_token)
        traced = tracing.traced_codes(state.outermost) if compiled and state.outermost is not None else []
        try:
            if compiled or state.skipped:
                self._on_compiled(traced, state.skipped)
        finally:
            state.forget_compile()
            self.table.forget_codes()
        if state.stepping.compile_ends():
            # a compile that continues the step may come before it ends there (see `entering`)
            self._suspension.finish_step_at_runtime(self._below.user_frame(), state.passed)

    def attempt_restarts(self, kind: convert_frame.Restart) -> None:
        try:
            state = self.threads.current()
            state.replays = True
            if kind == "other":
                state.high_water, state.high_breakpoint = (0, 0), 0
                state.moments.attempt_begins(replays=False)
        except Exception:
            self._report()

    def attempt_ends(self) -> None:
        try:
            state = self.threads.current()
            if state.depth == 0:
                self._outermost_ends(state, True)  # entered without the eval-frame callback: torch.export does
        except Exception:
            self._report()

    # ---- frames

    def _entered(self, translator: Translator) -> None:
        if not self.enabled:
            return
        try:
            state = self.threads.current()
            if tracing.is_outermost(translator):
                self._attempt_begins(state, translator)
            state.events += 1
            state.ticks = 0
            key = id(translator)
            if tracing.instruction_index(translator) < 0 or key not in state.frames:
                state.frames[key] = state.events
            looking = state.looking or self.find_changes is not None or state.at_start is not None
            if looking or state.stepping.mode is not Mode.RUN or not self.table.is_empty:
                frame = state.frames[key]
                if looking or state.stepping.watches(frame) or self.table.has_any_in(tracing.code_of(translator)):
                    self.watching.watch(state, translator)
        except Exception:
            self._report()

    def _attempt_begins(self, state: ThreadTracing, translator: Translator) -> None:
        self.frames_entered += 1
        state.outermost = translator
        state.thread_id = self._suspension.thread_id()
        state.events = state.ticks = 0
        state.frames.clear()
        state.activations.clear()
        state.values.clear()
        state.moments.attempt_begins(state.replays)
        if state.replays:
            state.replays = False
            state.stepping.trace_restarts()
        else:
            state.high_water, state.high_breakpoint = (0, 0), 0
            self.entering.compile_entered(state, translator)
        if self._suspension.pause_requested():
            state.looking = True

    def _left(self, translator: Translator) -> None:
        if not self.enabled:
            tracing.unwatch(translator)
            return
        try:
            state = self.threads.current()
            state.events += 1
            state.ticks = 0
            key = id(translator)
            if state.activations.pop(key, None) is not None:
                tracing.unwatch(translator)
            if state.stepping.mode is Mode.RUN:
                return
            callers = tracing.active_translators(translator)[::-1]
            rows = [(state.frames.get(id(caller), -1), self.entering.is_shown(state, caller)) for caller in callers]
            ends_in = state.stepping.frame_left(state.frames.get(key, -1), rows)
            for caller, (frame, _) in zip(callers, rows, strict=True):
                if frame == ends_in:
                    self.watching.watch(state, caller)
        except Exception:
            self._report()

    def step_ended_at_runtime(self) -> None:
        """Another debugger stops the current thread: no step of ours is left."""
        state = self.threads.existing()
        if state is not None:
            state.stepping.cancel()

    # ---- lines

    def _instruction(self, state: ThreadTracing, activation: Activation, line: int) -> None:
        state.ticks += 1
        begins = activation.begins_line(line)
        changes = None
        if self.find_changes is not None and self.enabled and not activation.in_prologue:
            changes = self.find_changes(state, activation)
        instructions = self.table.instructions
        heeded = begins or state.looking or state.at_start is not None or state.stepping.heeds_instructions
        if not heeded and changes is None and instructions is None:
            return
        if activation.in_prologue or not self.enabled:
            return
        if state.starts(activation):
            return
        if state.looking:
            state.looking = False
            if self._suspension.pause_requested():
                state.note_moment()
                self._stop(state, activation, "pause")
                return
        enters_function = begins and activation.enters_function()
        first_time = begins and activation.first_time_since_jump(line)
        is_new = state.note_moment()  # else a replay: what stopped here has stopped
        hits: list[Breakpoint] = []
        if is_new and first_time and not self.table.is_empty:
            hits = self._hits.at(self.table, activation, line, enters_function)
        if is_new and instructions is not None and (at_address := instructions.at(activation)):
            hits += self._hits.amid(at_address, activation.translator)
        ids = [hit.id for hit in hits]
        if hits:
            self._on_hit(activation.code, ids)
        if changes is not None:
            self._stop(state, activation, "data breakpoint", changes[0] + ids, changes[1])
        elif hits:
            self._stop(state, activation, kind_of(hits), ids)
        elif is_new and self._step_ends(state, activation, begins):
            entry = state.stops_on_entry
            state.stops_on_entry = False
            self._stop(state, activation, "entry" if entry else "step")

    def _step_ends(self, state: ThreadTracing, activation: Activation, begins_line: bool) -> bool:
        stepping, frame = state.stepping, activation.frame
        stepping.reaches(frame, tracing.instruction_index(activation.translator))
        shown = functools.partial(self.entering.is_shown, state, activation.translator)
        return stepping.ends_at_instruction(frame, shown) or (begins_line and stepping.ends_at_line(frame, shown))

    def amid(self, serve: Callable[[ThreadTracing, list[Translator]], None]) -> None:
        """Something happens amid an instruction: call `serve` with the frames being traced, innermost first; contained.

        Not when this thread traces nothing, nor for what the debugger itself does at a stop. `serve` may `hold`.
        """
        try:
            state = self.threads.existing()
            if self.enabled and state is not None and state.outermost is not None and not state.is_held:
                stack = tracing.active_translators(state.outermost)[::-1]
                if stack:
                    serve(state, stack)
        except Exception:
            self._report()

    def aside(self, serve: Callable[[ThreadTracing], None]) -> None:
        """`amid`, also where nothing is traced: before a frame is entered, or when the outermost has been left."""
        try:
            state = self.threads.current()
            if self.enabled and not state.is_held:
                serve(state)
        except Exception:
            self._report()

    def _stop(
        self,
        state: ThreadTracing,
        activation: Activation,
        reason: StopReason,
        ids: Sequence[int] = (),
        text: str | None = None,
    ) -> None:
        callers = tracing.active_translators(activation.translator)[::-1]
        at = next(i for i, caller in enumerate(callers) if caller is activation.translator)
        self.hold(state, callers[at:], reason, list(ids), text)
