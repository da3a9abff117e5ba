"""Decide at every frame and every line that Dynamo traces whether to stop.

Everything here runs on the compiling thread and is contained: an error of the debugger is reported and the compile
continues. A frame that cannot stop only has its instructions recorded, so that the user can go back to them.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable

from dynascope.agent.events import convert_frame
from dynascope.agent.events.frames import ActivationHooks, record_instructions, unwatch
from dynascope.agent.events.hook_failures import HookFailures, contained
from dynascope.agent.inspection.disassembly import Listings
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.speculation.retrace import Retraces
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.stops import CompileStops, Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.compiles import HookedCompiles
from dynascope.agent.tracing.history.histories import Histories, StopsAt, always, never
from dynascope.agent.tracing.instruction_callbacks import InstructionCallbacks
from dynascope.agent.tracing.runtime_frames import RuntimeFrames
from dynascope.agent.tracing.step_continuation import StepContinuation
from dynascope.agent.tracing.stepping import StepMode
from dynascope.agent.tracing.stop_check import StopCheck
from dynascope.agent.tracing.stop_thread import StopThread
from dynascope.agent.tracing.thread_state import ThreadState, ThreadStates
from dynascope.agent.tracing.time_travel import time_travel
from dynascope.agent.tracing.what_if.change import make
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message

_FAILED = "dynascope failed while Dynamo traced; the compile continues.\n"


class Hook:
    """Observe Dynamo's tracing; installed once torch._dynamo is imported, undone by `remove`."""

    def __init__(
        self, suspension: Suspension, stops: CompileStops, listings: Listings, send: Callable[[Message], None]
    ) -> None:
        self.threads = ThreadStates()
        self.enabled = True
        self.frames_entered = 0
        """How often Dynamo called this hook: 0 after a compile means that this torch's hooks have moved."""
        self._suspension = suspension
        self.failures = HookFailures(lambda trace: send(ConsoleOutput(category="important", output=_FAILED + trace)))
        self._checks: tuple[StopCheck, ...] = ()
        self.callbacks = InstructionCallbacks(self.threads, self._instruction, self.failures)
        self._activation_hooks = ActivationHooks(self._entered, self._left, self.failures)
        self.compiles = HookedCompiles(self.threads, suspension, stops, send)
        self.compile_hooks = convert_frame.CompileHooks(self.compiles, self.failures)
        self._retraces = Retraces(self.compiles.trace_repeats, self.failures)
        self._runtime_frames = RuntimeFrames(self.compile_hooks, suspension)
        self.compiles.user_frame = self._runtime_frames.user_frame
        self._step_continuation = StepContinuation(suspension, self._runtime_frames)
        self.histories = Histories(self.threads, self.failures)
        self.compiles.observe(self.histories)
        stop_thread = StopThread(
            stops, listings, self._runtime_frames, self._step_continuation, self.callbacks.add, self.histories
        )
        self.stop, self.stop_at_skipped_frame = stop_thread.stop, stop_thread.stop_at_skipped_frame

    def remove(self) -> None:
        """Remove every wrapper from Dynamo."""
        self.enabled = self.compiles.enabled = False
        self.compile_hooks.remove()
        self._retraces.remove()
        self._activation_hooks.remove()
        self.histories.remove()

    # ---- checks; any thread

    def add_check(self, check: StopCheck, is_loaded: Callable[[], bool] = always, stops_at: StopsAt = never) -> None:
        """Call `check` from now on, also in frames being traced, after the checks added before.

        `is_loaded`: whether the program has loaded code in which it may stop; `stops_at`: whether it stops at every
        visit of a line.
        """
        if check not in self._checks:
            self._checks = (*self._checks, check)
        self.histories.expect_stops(check, is_loaded, stops_at)
        self.callbacks.breakpoints_changed()

    def remove_check(self, check: StopCheck) -> None:
        """Stop calling `check`."""
        self._checks = tuple(other for other in self._checks if other is not check)
        self.histories.expect_stops(check, None)

    def set_check(
        self,
        check: StopCheck,
        is_needed: bool,
        is_loaded: Callable[[], bool] = always,
        stops_at: StopsAt = never,
    ) -> None:
        """Add or remove a check whose breakpoints have changed."""
        if is_needed:
            self.add_check(check, is_loaded, stops_at)
        else:
            self.remove_check(check)

    def set_stop_on_entry(self, stops: bool) -> None:
        """Set whether to stop at the first line that Dynamo traces."""
        self._step_continuation.stops_on_entry = stops

    # ---- frames

    def _entered(self, translator: Translator) -> None:
        state = self.threads.current()
        if state.is_stopped:  # the handler of a signal compiles while this thread is stopped
            return
        compile_state = state.begin_compile()
        if translators.is_outermost(translator):
            # the filter `recompile` stops in some attempts of a function only, several of which may be in one compile
            compile_state.stoppable.pop(id(translators.code_of(translator)), None)
            self._attempt_begins(state, compile_state, translator)
        clock = compile_state.clock
        clock.activation()
        key = id(translator)
        if translators.instruction_index(translator) < 0 or key not in compile_state.frames:
            compile_state.frames[key] = clock.activations
        compile_state.frame_entered(translators.code_of(translator))
        clock.traced.frame_entered(compile_state.frames[key], translators.code_of(translator))
        tape_writer, watch = compile_state.tape_writer, None
        if tape_writer is not None:
            tape_writer.entered(translator)
            watch = tape_writer.watcher(translator)
        if (
            state.pause_pending
            or compile_state.travel is not None
            or compile_state.applied
            or translators.in_resume_prologue(translator)
            or (state.stepping.mode is not StepMode.RUN and state.stepping.follows(compile_state.frames[key]))
            or (self._checks and self._may_stop_in(compile_state, translators.code_of(translator)))
        ):
            self.callbacks.add(state, translator)
        else:
            record_instructions(translator, clock.traced.indices, watch)

    def _may_stop_in(self, compile_state: CompileState, code: types.CodeType) -> bool:
        """Whether any check may stop in this code; keyed by identity, as hashing reads it all."""
        stoppable = compile_state.stoppable
        entry = stoppable.get(id(code))
        if entry is None:
            entry = stoppable[id(code)] = code, any(check.may_stop_in(code) for check in self._checks)
        return entry[1]

    def _attempt_begins(self, state: ThreadState, compile_state: CompileState, translator: Translator) -> None:
        self.frames_entered += 1
        state.thread_id = self._suspension.thread_id()
        replays = compile_state.attempt_begins(translator)
        if replays:
            state.stepping.trace_restarts()
        else:
            self._step_continuation.compile_entered(state, translator)
        if compile_state.travel is None:
            self.compiles.attempt_begins(state, translator)
        if self._suspension.pause_requested():
            state.pause_pending = True
        will_stop = state.pause_pending or state.stepping.mode is not StepMode.RUN or compile_state.travel is not None
        self.histories.begin(compile_state, will_stop)

    def _left(self, translator: Translator) -> None:
        state = self.threads.current()
        if state.is_stopped:
            return
        compile_state = state.begin_compile()
        compile_state.clock.activation()
        compile_state.clock.traced.frame_left()
        if compile_state.tape_writer is not None:
            compile_state.tape_writer.left(translator)
        key = id(translator)
        compile_state.activations.pop(key, None)
        unwatch(translator)
        if state.stepping.mode is StepMode.RUN:
            return
        callers = translators.active_translators(translator)[::-1]
        frames = compile_state.frames
        rows = [(frames.get(id(caller), -1), self._step_continuation.is_shown(state, caller)) for caller in callers]
        ends_in = state.stepping.frame_left(frames.get(key, -1), rows)
        for caller, (frame, _) in zip(callers, rows, strict=True):
            if frame == ends_in:
                self.callbacks.add(state, caller)

    def step_ended_at_runtime(self) -> None:
        """Cancel this thread's step, because another debugger has stopped it."""
        state = self.threads.existing()
        if state is not None:
            state.stepping.cancel()

    def step_into_next_compile(self) -> None:
        """Stop at the first line of the next compile on this thread."""
        stepping = self.threads.current().stepping
        stepping.step_into_compile()
        stepping.compile_ends()

    def continue_runtime_step(self) -> None:
        """Continue in the trace a run-time step that left a function which a compile had called."""
        state = self.threads.existing()
        if state is None or state.outermost is None or not self._suspension.runtime_steps():
            return
        self._suspension.cancel_runtime_step()
        state.stepping.step_into_compile()
        for translator in translators.active_translators(state.outermost):
            self.callbacks.add(state, translator)

    def traces_again(self) -> bool:
        """Whether this thread traces an instruction again without the user's wish."""
        state = self.threads.existing()
        compiling = None if state is None else state.compile
        return compiling is not None and (compiling.travel is not None or compiling.clock.traces_again())

    # ---- instructions

    def _instruction(self, state: ThreadState, compile_state: CompileState, activation: Activation, line: int) -> None:
        stop = self._stop_before(state, compile_state, activation, line)
        if stop is not None:
            callers = translators.active_translators(activation.translator)[::-1]
            at = next(i for i, caller in enumerate(callers) if caller is activation.translator)
            self.stop(state, callers[at:], stop, at_instruction=True)

    def _stop_before(
        self, state: ThreadState, compile_state: CompileState, activation: Activation, line: int
    ) -> Stop | None:
        """Return why to stop before the instruction, if there is a reason."""
        clock = compile_state.clock
        activation.advance(line)
        if activation.in_prologue or not self.enabled:
            if translators.in_resume_prologue(activation.translator):
                clock.restored_at = clock.traced.position
            return None
        clock.note_position()
        if compile_state.applied:
            make(compile_state.applied, clock.traced.position, activation.translator)
        travel = compile_state.travel
        arrival = None if travel is None else travel.at_instruction(clock.traced.position)
        if arrival is not None:  # where the user has gone back to
            return time_travel.follow(compile_state, arrival)
        rehearses = travel is not None and travel.rehearsal is not None
        activation.may_stop = rehearses or not clock.is_silent()
        stop: Stop | None = None
        for check in self._checks:
            if check.every_instruction or (activation.begins_line and activation.may_stop):
                another = check.stops_at(state, activation)
                if another is not None:
                    stop = another if stop is None else stop.merged(another)
        if state.pause_pending:
            stop = self._paused(state, stop)
        if stop is None and activation.may_stop and not rehearses and self._step_ends(state, activation):
            stop = Stop("entry" if state.stops_on_entry else "step", text=state.new_compile)
            state.stops_on_entry = False
        return stop

    def _paused(self, state: ThreadState, stop: Stop | None) -> Stop | None:
        state.pause_pending = False
        if not self._suspension.pause_requested():
            return stop
        # pydevd has suspended the thread: no other reason reaches the client
        return Stop("pause", stop.breakpoint_ids if stop is not None else [])

    def _step_ends(self, state: ThreadState, activation: Activation) -> bool:
        stepping, frame, begins_line = state.stepping, activation.frame, activation.begins_line
        if not (begins_line or stepping.heeds_instructions):
            return False
        stepping.reaches(frame, translators.instruction_index(activation.translator))
        shows = functools.partial(self._step_continuation.is_shown, state, activation.translator)
        return stepping.ends_at_instruction(frame, shows) or (begins_line and stepping.ends_at_line(frame, shows))

    # ---- events during an instruction, or outside any instruction

    @contained
    def during_instruction(self, serve: Callable[[ThreadState, list[Translator]], object]) -> None:
        """Call `serve` with the frames being traced, innermost first; contained.

        It may call `stop`. It is not called when this thread traces nothing, nor for code the debugger runs at a stop.
        """
        state = self.threads.existing()
        if self.enabled and state is not None and state.outermost is not None and not state.is_stopped:
            stack = translators.active_translators(state.outermost)[::-1]
            if stack:
                serve(state, stack)

    @contained
    def outside_trace(self, serve: Callable[[ThreadState], object]) -> None:
        """Call `serve` even if no frame is traced: before one is entered or after the last."""
        state = self.threads.current()
        if self.enabled and not state.is_stopped:
            serve(state)
