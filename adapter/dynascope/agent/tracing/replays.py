"""What stops a thread amid an instruction: each such moment stops once per compile, however often it is retraced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable


class Moments:
    """Moments are told apart by what happened and where; one that recurs in an attempt (a loop) counts each time."""

    def __init__(self) -> None:
        self._seen: Counter[Hashable] = Counter()
        self._of_attempt: Counter[Hashable] = Counter()

    def attempt_begins(self, replays: bool) -> None:
        """`replays`: Dynamo traces again what an attempt before has traced."""
        self._of_attempt.clear()
        if not replays:
            self._seen.clear()

    def is_new(self, moment: Hashable) -> bool:
        """Note that this happens now; whether it is no replay."""
        self._of_attempt[moment] += 1
        if self._of_attempt[moment] <= self._seen[moment]:
            return False
        self._seen[moment] = self._of_attempt[moment]
        return True
