"""Stop once per compile at an event during an instruction, however often it is retraced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator


def instructions_at(stack: Sequence[Translator]) -> Hashable:
    """Return a key for the instruction at which each of the frames is."""
    return tuple((translators.code_of(frame), translators.instruction_index(frame)) for frame in stack)


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

    def continue_from(self, rehearsed: Replays) -> None:
        """Count on from where a rehearsal has arrived."""
        self._in_attempt = rehearsed._in_attempt


@dataclass
class _Events:
    in_attempt: Replays = field(default_factory=Replays)
    over_restarts: Replays = field(default_factory=Replays)
    attempt: tuple[str, int] | None = None


class SeenEvents:
    """The events of one compile; a rehearsal sees each for the first time."""

    def __init__(self) -> None:
        self._events = _Events()
        self._kept: _Events | None = None

    def is_new(self, event: Hashable) -> bool:
        """Whether the event is no replay; restarts other than of a speculation begin anew."""
        return self._events.in_attempt.is_new(event)

    def is_new_in_compile(self, event: Hashable, compile_id: str, attempt: int) -> bool:
        """Whether no earlier attempt of this compile had this event; record it."""
        events = self._events
        before, events.attempt = events.attempt, (compile_id, attempt)
        if before != events.attempt:
            replays = before is not None and before[0] == compile_id and attempt > before[1]
            events.over_restarts.attempt_begins(replays=replays)
        return events.over_restarts.is_new(event)

    def attempt_begins(self, replays: bool) -> None:
        """Start over; `replays`: Dynamo traces again what an earlier attempt traced."""
        self.rehearsal_ends()
        self._events.in_attempt.attempt_begins(replays)

    def trace_repeats(self, is_rehearsed: bool) -> None:
        """Start over to repeat an attempt; rehearsed events are new again until `rehearsal_ends`."""
        self.rehearsal_ends()
        for replays in (self._events.in_attempt, self._events.over_restarts):
            replays.attempt_begins(replays=True)
        if is_rehearsed:
            self._kept, self._events = self._events, _Events(attempt=self._events.attempt)

    def rehearsal_ends(self) -> None:
        """Let events be seen again that a rehearsal has repeated."""
        if self._kept is not None:
            rehearsed, self._events, self._kept = self._events, self._kept, None
            self._events.in_attempt.continue_from(rehearsed.in_attempt)
            self._events.over_restarts.continue_from(rehearsed.over_restarts)
