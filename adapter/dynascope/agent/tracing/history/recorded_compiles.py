"""Compare the compile in progress with the recorded compiles of the same function."""

from __future__ import annotations

from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.tracing.history.histories import Histories
from dynascope.agent.tracing.history.history_writer import HistoryWriter
from dynascope.agent.tracing.history.recorded_attempt import RecordedAttempt


class RecordedCompiles:
    """The compile that is stopped, and those that have ended, as far as they are recorded."""

    def __init__(self, histories: Histories, now: HistoryWriter | None) -> None:
        self._histories = histories
        self._now = None if now is None else RecordedAttempt(now.history, has_failed=False, first_target=0)

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


def _function(attempt: RecordedAttempt) -> tuple[object, ...]:
    return attempt.function(attempt.lines[0].frame)[:3] if attempt.lines else ()
