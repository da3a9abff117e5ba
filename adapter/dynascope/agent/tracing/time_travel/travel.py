"""Where a repeated trace stops. Used on the compiling thread; a compile has at most one travel in progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tape.instructions import Position


class Counted(Protocol):
    """A breakpoint, as far as its hits are counted."""

    hits: int

    def stops_at_hit(self, hits: int) -> bool: ...


@dataclass
class Rehearsal:
    """Repeats which breakpoints stop, without stopping; a hit condition counts from the start of the compile."""

    hits_before: dict[Counted, int]
    """The hits of each breakpoint when the compile began; of others there were none."""
    _counts: dict[Counted, int] = field(default_factory=dict)

    def counts(self, breakpoint: Counted) -> bool:
        """Count a hit and return whether the breakpoint stops."""
        before = self._counts.get(breakpoint, self.hits_before.get(breakpoint, breakpoint.hits))
        self._counts[breakpoint] = before + 1
        return breakpoint.stops_at_hit(before + 1)


class Travel:
    """The destination of a repeated trace. By default nothing stops on the way."""

    silent_until: Position = 0
    rehearsal: Rehearsal | None = None
    """Decides which breakpoints would stop on the way; None when they are not asked."""

    def at_instruction(self, position: Position) -> Stop | Travel | None:
        """Return the stop on arrival before this instruction, or where to travel instead."""
        return None

    def at_stop(self, position: Position, stop: Stop, at_instruction: bool) -> Stop | Travel | None:
        """Return the same for something that would stop here."""
        return None


class ToPosition(Travel):
    """Travel to an instruction."""

    def __init__(self, position: Position, stop: Stop) -> None:
        self._position = position
        self._stop = stop
        self.silent_until = position - 1

    def at_instruction(self, position: Position) -> Stop | None:
        return self._stop if position >= self._position else None


class ToHit(Travel):
    """Travel to the n-th time that something stops, counted from the start of the compile."""

    def __init__(self, number: int, silent_until: Position, hits_before: dict[Counted, int]) -> None:
        self._left = number
        self.silent_until = silent_until
        self.rehearsal = Rehearsal(hits_before)

    def at_stop(self, position: Position, stop: Stop, at_instruction: bool) -> Stop | None:
        self._left -= 1
        return stop if self._left == 0 else None


class ToPreviousHit(Travel):
    """Travel to where the user is, noting what stops on the way, then to the last of that."""

    def __init__(
        self, here: Position, stop: Stop, at_instruction: bool, start: Travel, hits_before: dict[Counted, int]
    ) -> None:
        """Take the present position with its stop, and `start`, where to travel without any hit."""
        self._here = here
        self._stop = stop
        self._at_instruction = at_instruction
        self._start = start
        self._hits: list[Position] = []
        self.silent_until = here
        self.rehearsal = Rehearsal(hits_before)

    def at_instruction(self, position: Position) -> Travel | None:
        is_past = position >= self._here if self._at_instruction else position > self._here
        return self._to_latest() if is_past else None

    def at_stop(self, position: Position, stop: Stop, at_instruction: bool) -> Travel | None:
        is_here = position >= self._here and not at_instruction and not self._at_instruction
        if is_here and (stop.reason, stop.text) == (self._stop.reason, self._stop.text):
            return self._to_latest()
        self._hits.append(position)
        return None

    def _to_latest(self) -> Travel:
        if not self._hits:
            return self._start
        assert self.rehearsal is not None
        return ToHit(len(self._hits), self._hits[-1] - 1, self.rehearsal.hits_before)
