"""Play the tape of an attempt, which has ended or not: its lines in order, and what there was when each began."""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from dynascope.agent.program.user_code import real_path
from dynascope.agent.tape.code import Code
from dynascope.agent.tape.instructions import FrameId, Position
from dynascope.agent.tape.tape import (
    NO_CALL,
    NO_TEXT,
    UNBOUND,
    Segment,
    Table,
    Tape,
)
from dynascope.facts.recompiles.guarded_value import readable


class TapeLine(NamedTuple):
    """A line that Dynamo began to trace."""

    segment: Segment
    frame: FrameId
    line: int


class Playback:
    """The tape of an attempt as it is read: line by line."""

    def __init__(self, tape: Tape, has_failed: bool, first_target: Position) -> None:
        """Take `has_failed`: Dynamo raised an exception in the last line of the attempt.

        Each line has a target, by which it can be gone to: its number plus `first_target`.
        """
        self.first_target = first_target
        self.name = tape.name
        """The compile and attempt, such as `0/1_2`."""
        self.size = tape.size
        """The size in bytes, about."""
        self._tape = tape
        self._has_failed = has_failed

    @functools.cached_property
    def lines(self) -> list[TapeLine]:
        """Return every line in the order of tracing; a `def` line is none of its function's."""
        found: list[TapeLine] = []
        begun: dict[FrameId, int] = {}
        for segment, (began, frame, line, _) in enumerate(self._tape.segments):
            if begun.get(frame) != began:
                begun[frame] = began
                found.append(TapeLine(segment, frame, line))
        first = {line.frame: line for line in reversed(found)}
        several = {line.frame for line in found if line is not first[line.frame]}
        at_def = {first[frame] for frame in several if first[frame].line == self.code(frame).resumes_at}
        return [line for line in found if line not in at_def]

    @property
    def frames_at_end(self) -> list[FrameId]:
        """Return the frames that Dynamo had not left when the attempt ended, innermost first."""
        if not self.lines:
            return []
        segment = self.lines[-1].segment if self._has_failed else len(self._tape.segments) - 1
        return [self._tape.segments.row(segment)[1], *(frame for frame, _ in self._callers(segment))]

    def has_stopped_at(self, line: TapeLine) -> bool:
        """Whether the thread stopped at the line, other than at the end of a step."""
        return self.position(line) in self._tape.stops

    @property
    def end_of_targets(self) -> Position:
        """Return a number above every target in this attempt."""
        return self.first_target + len(self._tape.segments)

    def target_at(self, position: Position) -> Position | None:
        """Return the target of the line that was traced at a position of this attempt."""
        number = bisect.bisect_right(self.lines, position, key=self.position) - 1
        return self.first_target + max(0, number) if self.lines else None

    def target_of_source(self, expression: str) -> Position | None:
        """Return the target of the line that first needed a guard on what users write so."""
        texts = self._tape.texts.all
        segment = next((row[0] for row in self._tape.guards if readable(texts[row[1]]) == expression), -1)
        return None if segment < 0 else self.target_at(self._tape.segments.row(segment)[0])

    def line_that_fixed(self, size: str) -> tuple[str, int, Position | None] | None:
        """Return path, line and target of the line that fixed a size, written as users do."""
        segment = next((row[0] for row in self._tape.fixed if readable(self._tape.texts.all[row[1]]) == size), -1)
        if segment < 0:
            return None
        position, path, line = self._tape.place(segment)
        return path, line, self.target_at(position)

    def target_of_guard(self, path: str, line: int) -> Position | None:
        """Return the target of a line (with a real path) where it first needed a guard, or began."""
        numbers = [
            number
            for number, each in enumerate(self.lines)
            if each.line == line and real_path(self.code(each.frame).file) == path
        ]
        tables = self._tape.guards, self._tape.symbols
        guarded = {self._key(row[0]) for table in tables for row in table if row[0] >= 0}
        first = next((number for number in numbers if self._key(self.lines[number].segment) in guarded), None)
        number = next(iter(numbers), None) if first is None else first
        return None if number is None else self.first_target + number

    def code(self, frame: FrameId) -> Code:
        """Return what is known of the code of a frame."""
        return self._tape.calls[frame][0]

    def position(self, line: TapeLine) -> Position:
        """Return how many instructions had been traced when the line began, itself included."""
        return self._tape.segments.row(line.segment)[0]

    def stack(self, line: TapeLine) -> list[tuple[FrameId, int]]:
        """Return each frame with its line then, innermost first."""
        return [(line.frame, line.line), *self._callers(line.segment)]

    def names(self, line: TapeLine, frame: FrameId) -> dict[str, str]:
        """Return the text of each local variable of a frame of the stack when the line began."""
        texts, end, own = self._tape.texts.all, self._end(line), self.code(frame).names
        rows = [
            (row[0], 0, row[2], row[4] if row[3] != UNBOUND else NO_TEXT) for row in self._tape.bindings.where(1, frame)
        ]
        rows += [(row[0], 1, row[2], row[3]) for row in self._tape.rewritten.where(1, frame)]
        found: dict[str, str] = {}
        for segment, _, name, text in sorted(rows, key=lambda row: row[:2]):
            if segment >= end:
                break
            if text == NO_TEXT:
                found.pop(texts[name], None)
            else:
                found[texts[name]] = texts[text]
        return {name: text for name, text in found.items() if name in own and name.isidentifier()}

    def arguments(self) -> dict[str, str]:
        """Return the text of each local variable of the outermost frame when its first line began."""
        return self.names(self.lines[0], self.lines[0].frame) if self.lines else {}

    def guards(self, line: TapeLine) -> list[tuple[str, str, str, int]]:
        """Return (source, type, path, line) of each guard before the line: the line that needed it."""
        tape, texts, found = self._tape, self._tape.texts.all, []
        for segment, source, kind in self._before(line, tape.guards):
            _, path, number = tape.place(max(segment, 0))
            found.append((texts[source], texts[kind], path, number))
        return found

    def symbols(self, line: TapeLine) -> dict[str, list[str]]:
        """Return the sentences about each symbol before the line."""
        texts, found = self._tape.texts.all, dict[str, list[str]]()
        for _, symbol, sentence, _ in self._before(line, self._tape.symbols):
            found.setdefault(texts[symbol], []).append(texts[sentence])
        return found

    def nodes(self, line: TapeLine) -> list[str]:
        """Return the nodes of the graph before the line."""
        return [self._tape.texts.all[text] for _, text, *_ in self._before(line, self._tape.nodes)]

    def _before(self, line: TapeLine, table: Table) -> Iterator[tuple[int, ...]]:
        return itertools.takewhile(lambda row: row[0] < line.segment, table)

    def _end(self, line: TapeLine) -> Segment:
        """Return the first segment that is later than the line.

        Arguments are bound in a frame's first segment.
        """
        is_first = next(self._tape.segments.where(1, line.frame))[0] == self.position(line)
        return line.segment + is_first

    def _callers(self, segment: Segment) -> Iterator[tuple[FrameId, int]]:
        segments, calls = self._tape.segments, self._tape.calls
        wanted = calls[segments.row(segment)[3]][1]
        while wanted != NO_CALL and segment > 0:
            segment -= 1
            _, frame, line, call = segments.row(segment)
            if call == wanted:
                yield frame, line
                wanted = calls[call][1]

    def _key(self, segment: Segment) -> tuple[FrameId, int]:
        began, frame, *_ = self._tape.segments.row(segment)
        return frame, began
