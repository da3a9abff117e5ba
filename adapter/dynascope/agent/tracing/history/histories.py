"""Decide which attempts' histories are recorded, and tell them of changes in place."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.variables.mutations import MutationEvents
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.thread_state import Threads


class Histories:
    """Record the history of each attempt that begins while something may stop."""

    def __init__(self, threads: Threads, failures: HookFailures) -> None:
        self.are_recorded = True
        """Whether the session wants histories."""
        self._threads = threads
        self._failures = failures
        self._may_stop: dict[object, Callable[[], bool]] = {}
        self._changes: MutationEvents | None = None

    def expect_stops(self, of: object, may_stop: Callable[[], bool] | None) -> None:
        """Record from now on if `may_stop()` when an attempt begins; None: no longer. Any thread."""
        expected = {**self._may_stop, of: may_stop}
        self._may_stop = {each: ask for each, ask in expected.items() if ask is not None}

    def begin(self, state: CompileState, will_stop: bool) -> None:
        """Begin an attempt, before its outermost frame; `will_stop`: there is a step or a pause."""
        state.history = None
        if not self.are_recorded or not (will_stop or any(ask() for ask in self._may_stop.values())):
            return
        from dynascope.agent.tracing.history.history_writer import HistoryWriter  # imports what shows values

        if self._changes is None:
            self._changes = MutationEvents(self._changed, self._failures)
        state.history = HistoryWriter(state.clock.trail, state.outermost, self._failures)

    def remove(self) -> None:
        """Record no more."""
        self._may_stop = {}
        if self._changes is not None:
            self._changes.remove()

    def _changed(self, variable: object, attribute: str | None) -> None:
        state = self._threads.existing()
        if state is not None and state.compile is not None and state.compile.history is not None:
            state.compile.history.changed(variable, attribute)


def always() -> bool:
    """Return True: something may stop in any code."""
    return True
