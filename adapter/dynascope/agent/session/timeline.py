"""Keep the events of all compiles in the order in which they happened, the newest 10,000 of them."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator

import msgspec

from dynascope.agent.tape.instructions import Position
from dynascope.facts.file_names import short_name
from dynascope.wire.beyond_dap import TimelineBody, TimelineEvent, goto_target_id
from dynascope.wire.dap import Source

KEPT = 10_000
_NOT_REPEATED = ("stop", "restart")
"""Events that a repeated trace does not meet again: where they come again, they happen again."""


class TimelineEvents:
    """The events of this process; added on compiling threads, read on any."""

    def __init__(self) -> None:
        self._events: deque[TimelineEvent] = deque(maxlen=KEPT)
        self._numbers: Iterator[int] = itertools.count(1)
        self._began = time.monotonic()
        self._positions: dict[int, Position] = {}
        """Where the events of the attempt in progress lie in its trail, by number."""
        self._recorded: dict[int, Position] = {}
        """The targets of events of attempts that have ended, by number."""
        self._in_compile: set[tuple[str, Position, str]] = set()
        """The events of the compile in progress: a trace that is repeated does not add them again."""

    def add(
        self,
        kind: str,
        text: str,
        place: tuple[str, int] = ("", 0),
        compile_id: str = "",
        thread_id: int | None = None,
        position: Position = 0,
        target: Position | None = None,
    ) -> None:
        """Add an event at a line of a file; `position` is 0 where no frame is traced.

        `target`: where it leads to in a compile that has ended.
        """
        event = kind, position, text
        if position and kind not in _NOT_REPEATED and event in self._in_compile:
            return
        number = next(self._numbers)
        if position:
            self._in_compile.add(event)
            self._positions[number] = position
        if target is not None:
            self._recorded[number] = target
        path, line = place
        self._events.append(
            TimelineEvent(
                number=number,
                seconds=round(time.monotonic() - self._began, 3),
                kind=kind,
                text=text,
                compile_id=compile_id,
                source=Source(name=short_name(path), path=path) if path else None,
                line=line if path else None,
                thread_id=thread_id,
            )
        )

    def attempt_ends(self, target_at: Callable[[Position], Position | None], replays: bool = False) -> None:
        """Forget the positions: the attempt has ended, and cannot be repeated any more.

        `target_at` returns the target of a position, if the attempt was recorded. `replays`: the next attempt traces
        the same again, and meets its events again.
        """
        targets = {number: target_at(position) for number, position in self._positions.items()}
        oldest = self._events[0].number if self._events else 0
        known = {number: target for number, target in self._recorded.items() if number >= oldest}
        self._recorded = known | {number: target for number, target in targets.items() if target is not None}
        self._positions = {}
        if not replays:
            self._in_compile = set()

    def course_changes(self, after: Position) -> None:
        """Forget the positions after one, from which on the attempt is traced with a change."""
        self._positions = {number: position for number, position in self._positions.items() if position <= after}
        self._in_compile = {event for event in self._in_compile if event[1] <= after}

    def newest(self, count: int) -> TimelineBody:
        """Return the newest events, each with its target if the user can go there from a stop."""
        events, positions = list(self._events), self._recorded | self._positions
        newest = events[max(0, len(events) - count) :]
        return TimelineBody(
            events=[
                msgspec.structs.replace(event, target_id=goto_target_id(positions[event.number]))
                if event.number in positions
                else event
                for event in newest
            ],
            total=events[-1].number if events else 0,
        )
