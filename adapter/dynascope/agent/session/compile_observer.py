"""The observer of compiles that a session installs."""

from __future__ import annotations

import types
from collections.abc import Callable

from dynascope.agent.breakpoints.registry import BreakpointKinds
from dynascope.agent.isolation.unseen import hide_from_guards
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver


class CompileObserver(TraceObserver):
    """Pass the results of compiles to the breakpoints. Called on compiling threads."""

    def __init__(self, hook: Hook, breakpoints: BreakpointKinds, tell_ready: Callable[[list[str]], None]) -> None:
        """Call `tell_ready` with the names of hooks that Dynamo did not call."""
        self._hook = hook
        self._breakpoints = breakpoints
        self._tell_ready = tell_ready
        self._hooks_checked = False

    def first_compile(self) -> None:
        hide_from_guards()

    def compile_ended(self, outcome: CompileOutcome) -> None:
        if outcome.traced and not self._hooks_checked:
            self._hooks_checked = True
            if not self._hook.frames_entered:
                self._tell_ready(["OutputGraph.push_tx was not called"])
        self._breakpoints.compile_ended(outcome)

    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str) -> None:
        self._breakpoints.traced.note_generated(code, generated)
