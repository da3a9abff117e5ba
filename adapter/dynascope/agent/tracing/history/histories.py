"""Decide which attempts' histories are recorded, and tell them of changes in place."""

from __future__ import annotations

from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.variables.mutations import MutationEvents
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.thread_state import Threads


class Histories:
    """Record the history of each attempt in which the thread may stop."""

    def __init__(self, threads: Threads, failures: HookFailures) -> None:
        self.are_recorded = True
        """Whether the session wants histories."""
        self._threads = threads
        self._failures = failures
        self._changes: MutationEvents | None = None

    def begin(self, state: CompileState, may_stop: bool) -> None:
        """Begin the history of an attempt, before its outermost frame is entered."""
        state.history = None
        if not (may_stop and self.are_recorded):
            return
        from dynascope.agent.tracing.history.history_writer import HistoryWriter  # imports what shows values

        if self._changes is None:
            self._changes = MutationEvents(self._changed, self._failures)
        state.history = HistoryWriter(state.clock.trail, state.outermost, self._failures)

    def remove(self) -> None:
        """Record no more."""
        if self._changes is not None:
            self._changes.remove()

    def _changed(self, variable: object, attribute: str | None) -> None:
        state = self._threads.existing()
        if state is not None and state.compile is not None and state.compile.history is not None:
            state.compile.history.changed(variable, attribute)
