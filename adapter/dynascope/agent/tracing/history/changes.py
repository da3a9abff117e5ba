"""Find what an attempt has added or changed since a position: names, values, guards, symbols, nodes, state."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from dynascope.agent.inspection.values.history_rows import HistoryEntry, Since
from dynascope.agent.tape.instructions import FrameId, Position
from dynascope.agent.tape.tape import NO_FRAME, NO_TEXT, UNBOUND, Segment, Tape
from dynascope.agent.tape.tape_writer import TapeWriter
from dynascope.agent.tracing.compile_state import Checkpoints
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.wire.beyond_dap import CHECKPOINT, LINE, PREVIOUS_STOP

_AHEAD = "that stop is ahead: you have gone back"


_FORMS = {"name": "{} = {}", "changed": "{}: {}", "guard": "{} {}", "symbol": "{} {}"}
"""How the two texts of a row are put together."""
Change = tuple[Segment, str, int, int]
"""The segment of a change, what it is of, and its texts, each by its number or NO_TEXT."""


class Changes:
    """The changes up to the stop, as one of the frames being traced sees them."""

    def __init__(self, writer: TapeWriter, frame: FrameId, checkpoints: Checkpoints) -> None:
        self._writer = writer
        self._tape = writer.tape
        self._frame = frame
        self._checkpoints = checkpoints
        self._began = self._tape.segments.column(0)

    def since(self) -> list[Since]:
        """Return what has changed since the stop before, this line and each checkpoint."""
        previous = self._checkpoints.previous_stop
        asked = [] if previous is None else [(PREVIOUS_STOP, self._first_segment(previous), previous)]
        line = self._line()
        if line is not None:
            asked.insert(1, (LINE, line, 0))
        for name, position in self._checkpoints.named.items():
            asked.append((CHECKPOINT.format(name=name), self._first_segment(position), position))
        rows = self._rows(min((first for _, first, _ in asked), default=0))
        return [self._since(title, first, position, rows) for title, first, position in asked]

    def _since(self, title: str, first: Segment, position: Position, rows: list[Change]) -> Since:
        if position > self._checkpoints.stopped_at:
            return Since(title, _AHEAD, Counter(), ())
        later = [row for row in rows if row[0] >= first]
        entries = HistoryEntries(self._tape, later)
        place = entries.entry((min(first, len(self._began) - 1), "", NO_TEXT, NO_TEXT)).place
        return Since(title, place, Counter([what for _, what, _, _ in later]), entries)

    def _first_segment(self, position: Position) -> Segment:
        """Return the segment that a moment begins, or for a moment of an earlier trace its line."""
        known = self._writer.segment_at.get(position)
        if known is not None:
            return known
        return next((number for number in reversed(range(len(self._began))) if self._began[number] <= position), 0)

    def _line(self) -> Segment | None:
        """Return the first segment of the line at which the frame is."""
        frames = self._tape.segments.column(1)
        latest = next((number for number in reversed(range(len(frames))) if frames[number] == self._frame), None)
        if latest is None:
            return None
        began = self._began[latest]
        return next(n for n in range(len(frames)) if self._began[n] == began and frames[n] == self._frame)

    def _rows(self, first: Segment) -> list[Change]:
        """Return the changes from a segment on, in order."""
        tape, began, frames = self._tape, self._began, self._writer.frames
        shown = {frame: self._shown_names(frame) for frame in frames}
        names: dict[int, int] = {}
        latest: dict[tuple[Position, int, int], Change] = {}
        """The last change of a name or value by each line, which has several where it was stopped within."""
        for segment, frame, name, value, text, _ in tape.bindings:
            if frame in shown and name in shown[frame]:
                names[value] = name
                if segment >= first:
                    change = (segment, "deleted", name, NO_TEXT) if value == UNBOUND else (segment, "name", name, text)
                    latest[began[segment], frame, name] = change
        for segment, value, text in tape.changes.rows_from(first):
            if value in names:
                latest[began[segment], NO_FRAME, value] = segment, "changed", names[value], text
        rows = list(latest.values())
        rows += [(segment, "guard", kind, source) for segment, source, kind in tape.guards.rows_from(first)]
        rows += [(segment, "symbol", symbol, text) for segment, symbol, text, _ in tape.symbols.rows_from(first)]
        rows += [(segment, "node", text, NO_TEXT) for segment, text, *_ in tape.nodes.rows_from(first)]
        texts = tape.texts.all
        rows += [(segment, texts[what], text, NO_TEXT) for segment, what, text in tape.context.rows_from(first)]
        # a number for each segment, the same for those into which stops have divided one
        moments = list(accumulate((after != before for before, after in pairwise(tape.segments)), initial=0))
        return sorted(rows, key=lambda row: moments[row[0]])

    def _shown_names(self, frame: FrameId) -> set[int]:
        names = self._tape.calls[frame][0].names
        return {self._tape.texts.find(name) for name in names if name.isidentifier()}


class HistoryEntries(Sequence[HistoryEntry]):
    """The entries of changes, which are made when they are looked at."""

    def __init__(self, tape: Tape, rows: list[Change]) -> None:
        self._rows = rows
        self._texts = tape.texts.all
        self._place = functools.cache(tape.place)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        row = self._rows[index]
        return [*map(self.entry, row)] if isinstance(row, list) else self.entry(row)

    def entry(self, row: Change) -> HistoryEntry:
        """Return the entry of a change."""
        segment, what, first, second = row
        texts = [self._texts[number] if number != NO_TEXT else "" for number in (first, second)]
        if what == "guard":
            texts[1] = readable(texts[1])
        began, path, line = self._place(segment)
        return HistoryEntry(began, what, _FORMS.get(what, "{}").format(*texts).rstrip(), path, line)
