"""What happens during an instruction stops once for each compile, however often Dynamo traces it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable


class Replays:
    """Tells an event that is new from one that an earlier attempt had; one that recurs (in a loop) is counted."""

    def __init__(self) -> None:
        self._seen: Counter[Hashable] = Counter()
        self._in_attempt: Counter[Hashable] = Counter()

    def attempt_begins(self, replays: bool) -> None:
        """Start over; `replays`: Dynamo traces again what an attempt before has traced."""
        self._in_attempt.clear()
        if not replays:
            self._seen.clear()

    def is_new(self, event: Hashable) -> bool:
        """Note that this happens now; whether it is no replay."""
        self._in_attempt[event] += 1
        if self._in_attempt[event] <= self._seen[event]:
            return False
        self._seen[event] = self._in_attempt[event]
        return True
