"""Stop the current thread in the frame it traces, and begin the step that resumes it."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dynascope.agent.inspection.disassembly import Listings
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import package_of, real_path
from dynascope.agent.speculation.retrace import Rewind, can_repeat
from dynascope.agent.suspension.stops import CompileStops, Stop
from dynascope.agent.tape.instructions import FrameId
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.history.histories import Histories, TapedCompiles, always
from dynascope.agent.tracing.runtime_frames import RuntimeFrames, function_of
from dynascope.agent.tracing.step_continuation import StepContinuation
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.agent.tracing.time_travel import time_travel
from dynascope.agent.tracing.time_travel.look_back import LookBack
from dynascope.agent.tracing.time_travel.look_back_stops import LookBackStops
from dynascope.agent.tracing.time_travel.plan import TravelPlan
from dynascope.agent.tracing.time_travel.travel import Travel
from dynascope.agent.tracing.what_if.what_if import WhatIf

if TYPE_CHECKING:
    from dynascope.agent.tracing.history.frame_history import FrameHistory


class StopThread:
    """Stop compiling threads; used on those threads."""

    def __init__(
        self,
        stops: CompileStops,
        listings: Listings,
        runtime_frames: RuntimeFrames,
        step_continuation: StepContinuation,
        add_callback: Callable[[ThreadState, Translator], None],
        histories: Histories,
    ) -> None:
        """Take `step_continuation`, which knows where steps stop, and `add_callback`.

        It makes a frame call the hook before each of its instructions.
        """
        self._stops = stops
        self._address_of = listings.address_of
        self._runtime_frames = runtime_frames
        self._is_shown = step_continuation.is_shown
        self._shows_file = step_continuation.shows_file
        self._add_callback = add_callback
        self._histories = histories
        self._look_back_stops = LookBackStops(stops, runtime_frames, histories)

    def stop(self, state: ThreadState, stack: list[Translator], stop: Stop, at_instruction: bool = False) -> None:
        """Stop the current thread here; `stack` is innermost first.

        `at_instruction`: before an instruction, and not at an event in the middle of it. Raises Rewind when the user
        goes back from here.
        """
        compile_state = state.begin_compile()
        travel, position = compile_state.travel, compile_state.clock.traced.position
        if travel is not None and stop.reason != "pause":
            arrival = time_travel.follow(compile_state, travel.at_stop(position, stop, at_instruction))
            if arrival is None:
                return
        compile_state.travel_ends()
        compile_state.step_ends(stop, at_instruction)
        is_shown = functools.partial(self._is_shown, state)
        is_traced = can_repeat() and stack[-1] is compile_state.outermost  # else another has begun within it
        look_back = self._look_back_stops.look_back(functools.partial(self._shows_file, state))
        plan = TravelPlan(compile_state, stack, is_shown, stop, at_instruction, look_back) if is_traced else None
        if compile_state.tape_writer is not None:
            compile_state.tape_writer.until_now(stops=stop.reason not in ("step", "goto", "restart"))
        compile_state.checkpoints.stops(position)
        self._histories.expect_stops(self, always)  # where one thing has stopped, others will
        what_if = WhatIf(compile_state, stack, stop, self._stops.tell) if is_traced else None
        plan_or_past = plan or _unless_empty(look_back)
        inspection = functools.partial(self._inspection, compile_state, stack, plan_or_past, what_if)
        with state.at_stop():
            command = self._stops.wait(inspection, self._runtime_frames.first(), stop)
            command = self._look_back_stops.follow(command, inspection, plan or look_back)
        if plan is not None and isinstance(plan.chosen, Travel):
            self._stops.step_prepared(-1)
            time_travel.begin(compile_state, plan.chosen)
        state.step_package = package_of(real_path(translators.code_of(stack[0]).co_filename))
        frame_ids = compile_state.frames
        stack = [stack[0], *(caller for caller in stack[1:] if self._is_shown(state, caller))]
        frames: list[FrameId] = [frame_ids.get(id(translator), -1) for translator in stack]
        functions = [function_of(translators.code_of(translator)) for translator in stack]
        how = self._stops.step_prepared(translators.instruction_index(stack[0]))
        state.steps_into_call = how[1] is not None
        if at_instruction:
            compile_state.step_begins(command, how[0])
        state.stepping.command(command, frames, functions + self._runtime_frames.functions(), *how)
        lines = self._runtime_frames.lines_passed(stack) if command != "continue" else []
        state.step_lines = lines[1:] if command == "stepOut" else lines
        for translator, frame in zip(stack, frames, strict=True):
            if state.stepping.follows(frame):
                self._add_callback(state, translator)
        if compile_state.changes_course():
            raise Rewind(compile_state.outermost)

    def stop_at_skipped_frame(self, state: ThreadState, frame: Any, stop: Stop, is_compiled: bool = False) -> None:
        """Stop at a frame that Dynamo does not trace or has compiled; `frame` is its view of it."""
        from dynascope.agent.inspection.inspection import SkippedFrameInspection

        if state.compile is not None and state.compile.travel is not None:
            return
        look_back = self._look_back_stops.look_back(functools.partial(self._shows_file, state))

        def inspection(ids: Iterator[int], runtime_frames: Sequence[types.FrameType]) -> Any:
            made = SkippedFrameInspection(frame, ids, runtime_frames, is_compiled)
            made.travel_plan = _unless_empty(look_back)
            return made

        with state.at_stop():
            command = self._stops.wait(inspection, self._runtime_frames.first(), stop)
            command = self._look_back_stops.follow(command, inspection, look_back)
        self._stops.step_prepared(-1)  # discard a prepared step: there are no instructions here
        state.stepping.command(command, [-1], [function_of(frame.f_code), *self._runtime_frames.functions()])
        state.step_lines = []

    def _inspection(
        self,
        state: CompileState,
        stack: list[Translator],
        plan: TravelPlan | LookBack | None,
        what_if: WhatIf | None,
        ids: Iterator[int],
        runtime_frames: Sequence[types.FrameType],
    ) -> Any:
        from dynascope.agent.inspection.inspection import Inspection

        inspection = Inspection(stack, ids, runtime_frames)
        inspection.travel_plan, inspection.what_if = plan, what_if
        inspection.history_of = functools.partial(_history_of, state)
        inspection.compiles = TapedCompiles(self._histories, state.tape_writer)
        for frame, translator in zip(inspection.frames, stack, strict=False):
            frame.instruction_pointer_reference = self._address_of(translator)
        return inspection


def _history_of(state: CompileState, translator: Translator) -> FrameHistory | None:
    if state.tape_writer is None or id(translator) not in state.frames:
        return None
    from dynascope.agent.tracing.history.frame_history import FrameHistory

    return FrameHistory(state.tape_writer, translator, state.checkpoints)


def _unless_empty(look_back: LookBack) -> LookBack | None:
    return None if look_back.is_empty else look_back
