"""Stop once per compile at an event during an instruction, however often it is retraced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable


class Replays:
    """Distinguish new events from replayed ones; an event that recurs in a loop is counted."""

    def __init__(self) -> None:
        self._seen: Counter[Hashable] = Counter()
        self._in_attempt: Counter[Hashable] = Counter()

    def attempt_begins(self, replays: bool) -> None:
        """Start over; `replays`: Dynamo traces again what an earlier attempt traced."""
        self._in_attempt.clear()
        if not replays:
            self._seen.clear()

    def is_new(self, event: Hashable) -> bool:
        """Whether this event is not a replay; record it."""
        self._in_attempt[event] += 1
        if self._in_attempt[event] <= self._seen[event]:
            return False
        self._seen[event] = self._in_attempt[event]
        return True
