"""Decide of which attempts tapes are written, tell them of changes in place, and keep the tapes that have ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dynascope.agent.events.frames import MutationEvents
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt, trace_id
from dynascope.agent.tape.playback import Playback
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver
from dynascope.agent.tracing.thread_state import ThreadStates
from dynascope.wire.beyond_dap import FIRST_PAST

if TYPE_CHECKING:
    from dynascope.agent.tape.tape_writer import TapeWriter

_KEPT_BYTES = 64 << 20
StopsAt = Callable[[str, int], bool]


class Histories(TraceObserver):
    """The tapes of the attempts that begin while something may stop."""

    def __init__(self, threads: ThreadStates, failures: HookFailures) -> None:
        self.are_recorded = True
        """Whether the session wants histories."""
        self.ended: tuple[Playback, ...] = ()
        """The attempts of all threads that have ended, oldest first; the newest 64 MB. Replaced whole."""
        self._next_target = FIRST_PAST
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
        before, state.tape_writer, state.tape = state.tape, None, None
        if not self.are_recorded or not (will_stop or any(ask() for ask in self._may_stop.values())):
            return
        from dynascope.agent.tape.tape_writer import TapeWriter  # imports what shows values

        if self._changes is None:
            self._changes = MutationEvents(self._changed, self._failures)
        state.tape_writer = TapeWriter(trace_id(), state.clock.traced, state.outermost, self._failures)
        state.tape = state.tape_writer.tape
        if before is not None and state.travel is not None:  # the same trace, repeated
            state.tape.stops.extend(before.stops)

    def latest(self, compile_id: str) -> Playback | None:
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
        """Keep the tape of the attempt that ends on this thread."""
        state = self._threads.existing()
        compile_state = None if state is None else state.compile
        if compile_state is None:
            return
        tape, compile_state.tape, compile_state.tape_writer = compile_state.tape, None, None
        if tape is None:
            return
        ended = (*self.ended, Playback(tape, has_failed, self._next_target))
        self._next_target = ended[-1].end_of_targets
        too_much = sum(attempt.size for attempt in ended) - _KEPT_BYTES
        while too_much > 0 and len(ended) > 1:
            too_much -= ended[0].size
            ended = ended[1:]
        self.ended = ended

    def _changed(self, variable: object, attribute: str | None) -> None:
        state = self._threads.existing()
        if state is not None and state.compile is not None and state.compile.tape_writer is not None:
            state.compile.tape_writer.changed(variable, attribute)


class TapedCompiles:
    """The compile that is stopped and the compiles that have ended, where they have tapes."""

    def __init__(self, histories: Histories, now: TapeWriter | None) -> None:
        self._histories = histories
        self._now = None if now is None else Playback(now.tape, has_failed=False, first_target=0)

    def arguments(self, compile_id: str) -> dict[str, str]:
        """Return the arguments of a compile as text; none if it is not recorded."""
        is_now = self._now is not None and self._now.name.partition("_")[0] == compile_id
        recorded = self._now if is_now else self._histories.latest(compile_id)
        return {} if recorded is None else recorded.arguments()

    def line_that_fixed(self, compile_id: str, size: str) -> tuple[str, int] | None:
        """Return the line for which a compile fixed a dynamic size; None if not recorded."""
        recorded = self._histories.latest(compile_id)
        found = None if recorded is None else recorded.line_that_fixed(size)
        return None if found is None else found[:2]

    def earlier(self) -> str | None:
        """Return the id of the newest earlier compile of the function; None if unknown."""
        if self._now is None:
            return None
        whose = _function(self._now)
        same = [attempt.name for attempt in self._histories.ended if _function(attempt) == whose]
        others = same[: len(same) - compile_id_and_attempt()[1]]
        return others[-1].partition("_")[0] if others else None


def _function(attempt: Playback) -> tuple[object, ...]:
    code = attempt.code(attempt.lines[0].frame) if attempt.lines else None
    return () if code is None else (code.name, code.file, code.resumes_at)


def always() -> bool:
    """Return True: something may stop in any code."""
    return True


def never(path: str, line: int) -> bool:
    """Return False: nothing stops at every visit of a line."""
    return False
