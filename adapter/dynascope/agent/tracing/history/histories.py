"""Decide which attempts' histories are recorded, tell them of changes in place, and keep those that have ended."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.values import MutationEvents
from dynascope.agent.internals.compile.compile_context import trace_id
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.history.recorded_attempt import RecordedAttempt
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver
from dynascope.agent.tracing.thread_state import Threads
from dynascope.wire.beyond_dap import FIRST_RECORDED

_KEPT_BYTES = 64 << 20
StopsAt = Callable[[str, int], bool]


class Histories(TraceObserver):
    """Record the history of each attempt that begins while something may stop."""

    def __init__(self, threads: Threads, failures: HookFailures) -> None:
        self.are_recorded = True
        """Whether the session wants histories."""
        self.ended: tuple[RecordedAttempt, ...] = ()
        """The attempts of all threads that have ended, oldest first; the newest 64 MB. Replaced whole."""
        self._next_target = FIRST_RECORDED
        self._threads = threads
        self._failures = failures
        self._may_stop: dict[object, Callable[[], bool]] = {}
        self._stops_at: dict[object, StopsAt] = {}
        self._changes: MutationEvents | None = None

    def expect_stops(self, of: object, may_stop: Callable[[], bool] | None, stops_at: StopsAt | None = None) -> None:
        """Record from now on if `may_stop()` when an attempt begins; None: no longer. Any thread.

        `stops_at`: whether every visit of a line of a file stops.
        """
        self._stops_at = {**self._stops_at, of: stops_at or never}
        expected = {**self._may_stop, of: may_stop}
        self._may_stop = {each: ask for each, ask in expected.items() if ask is not None}

    def stops_at(self, path: str, line: int) -> bool:
        """Whether a breakpoint stops at every visit of a line."""
        return any(stops(path, line) for of, stops in self._stops_at.items() if of in self._may_stop)

    def begin(self, state: CompileState, will_stop: bool) -> None:
        """Begin an attempt, before its outermost frame; `will_stop`: there is a step or a pause."""
        before, state.history = state.history, None
        if not self.are_recorded or not (will_stop or any(ask() for ask in self._may_stop.values())):
            return
        from dynascope.agent.tracing.history.history_writer import HistoryWriter  # imports what shows values

        if self._changes is None:
            self._changes = MutationEvents(self._changed, self._failures)
        state.history = HistoryWriter(trace_id(), state.clock.trail, state.outermost, self._failures)
        if before is not None and state.travel is not None:  # the same trace, repeated
            state.history.history.stops.extend(before.history.stops)

    def latest(self, compile_id: str) -> RecordedAttempt | None:
        """Return the latest attempt of a compile; None if not recorded."""
        named = (attempt for attempt in reversed(self.ended) if attempt.name.partition("_")[0] == compile_id)
        return next(named, None)

    def remove(self) -> None:
        """Record no more."""
        self._may_stop = {}
        if self._changes is not None:
            self._changes.remove()

    # ---- TraceObserver

    def attempt_restarts(self, reason: str, replays: bool) -> None:
        self._keep(has_failed=True)

    def compile_ended(self, outcome: CompileOutcome) -> None:
        self._keep(has_failed=bool(outcome.abandoned))

    def _keep(self, has_failed: bool) -> None:
        """Keep the history of the attempt that ends on this thread."""
        state = self._threads.existing()
        compile_state = None if state is None else state.compile
        if compile_state is None:
            return
        history, writer = compile_state.recorded, compile_state.history
        if writer is not None:
            history = writer.history
        compile_state.recorded = compile_state.history = None
        if history is None:
            return
        ended = (*self.ended, RecordedAttempt(history, has_failed, self._next_target))
        self._next_target = ended[-1].end_of_targets
        too_much = sum(attempt.size for attempt in ended) - _KEPT_BYTES
        while too_much > 0 and len(ended) > 1:
            too_much -= ended[0].size
            ended = ended[1:]
        self.ended = ended

    def _changed(self, variable: object, attribute: str | None) -> None:
        state = self._threads.existing()
        if state is not None and state.compile is not None and state.compile.history is not None:
            state.compile.history.changed(variable, attribute)


def always() -> bool:
    """Return True: something may stop in any code."""
    return True


def never(path: str, line: int) -> bool:
    """Return False: nothing stops at every visit of a line."""
    return False
