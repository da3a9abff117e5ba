"""Continue in a new compile a run-time step or a step that left an earlier compile."""

from __future__ import annotations

import os

from dynascope.agent.internals.compile.compile_context import trace_id
from dynascope.agent.internals.frames import resume, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code, package_of, real_path
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.tape.instructions import FrameId
from dynascope.agent.tracing.runtime_frames import RuntimeFrames, function_of
from dynascope.agent.tracing.stepping import StepMode
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.explain.compiles import NEW_COMPILE

_CALLS_FORWARD = os.path.join("torch", "nn", "modules", "module.py")
"""The file through which every module's `forward` is called: no step into a call ends in it."""
_OUTERMOST: FrameId = 1
"""The first frame that an attempt enters."""


class StepContinuation:
    """Continue steps and apply `stopOnEntry` when a compile begins; used on compiling threads."""

    def __init__(self, suspension: Suspension, runtime_frames: RuntimeFrames) -> None:
        self._suspension = suspension
        self._runtime_frames = runtime_frames
        self.stops_on_entry = False
        """Whether to stop at the first line that Dynamo traces."""

    def compile_entered(self, state: ThreadState, translator: Translator) -> None:
        """Continue a step when Dynamo begins to trace the outermost frame for the first time."""
        stepping, suspension = state.stepping, self._suspension
        steps_in = stepping.mode is not StepMode.LEFT and suspension.runtime_steps_in()
        if steps_in:
            state.step_package, state.steps_into_call = None, False
        is_shown = self.is_shown(state, translator)
        code = translators.code_of(translator)
        continues = resume.is_resume_function(code)
        if (
            continues
            and stepping.mode is StepMode.RUN
            and function_of(code) in (over := self._runtime_frames.steps_over())
        ):
            stepping.left_at_runtime(over)
        if self.stops_on_entry and is_shown:
            self.stops_on_entry, state.stops_on_entry = False, True
            stepping.step_into_compile()
        elif steps_in and is_shown:
            stepping.step_into_compile()
            suspension.cancel_runtime_step()
        elif stepping.mode is StepMode.LEFT and is_shown:
            elsewhere = not suspension.ends_steps_at_runtime and not any(
                map(stepping.began_in, self._runtime_frames.functions())
            )
            if stepping.compile_begins(_OUTERMOST, function_of(code), continues, elsewhere):
                suspension.cancel_runtime_step()
                if (line := resume.line_of_break(code)) is not None:
                    state.new_compile = NEW_COMPILE.format(trace_id(), line)

    def is_shown(self, state: ThreadState, translator: Translator) -> bool:
        """Whether steps stop here: in the user's code and the package where the step began."""
        return self.shows_file(state, translators.code_of(translator).co_filename)

    def shows_file(self, state: ThreadState, path: str) -> bool:
        """Whether steps stop in a file."""
        path = real_path(path)
        if is_our_code(path):
            return False
        if state.steps_into_call and not path.endswith(_CALLS_FORWARD):
            return True
        return self._suspension.is_user_code(path) or (
            state.step_package is not None and package_of(path) == state.step_package
        )
