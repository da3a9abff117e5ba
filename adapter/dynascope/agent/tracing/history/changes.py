"""Find what an attempt has added or changed since a position: names, values, guards, symbols, nodes, state."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise

from dynascope.agent.inspection.values.history_rows import Entry, Since
from dynascope.agent.tape.instructions import FrameId, Position
from dynascope.agent.tape.tape import UNBOUND, Segment
from dynascope.agent.tape.tape_writer import TapeWriter
from dynascope.agent.tracing.history.checkpoints import Checkpoints
from dynascope.wire.checkpoint import CHECKPOINT, LINE, PREVIOUS_STOP

_AHEAD = "that stop is ahead: you have gone back"


class Changes:
    """The changes up to the stop, as one of the frames being traced sees them."""

    def __init__(self, writer: TapeWriter, frame: FrameId, checkpoints: Checkpoints) -> None:
        self._writer = writer
        self._tape = writer.tape
        self._frame = frame
        self._checkpoints = checkpoints

    def since(self) -> list[Since]:
        """Return what has changed since the stop before, this line and each checkpoint."""
        asked = {PREVIOUS_STOP: self._checkpoints.previous_stop} if self._checkpoints.previous_stop is not None else {}
        asked |= {CHECKPOINT.format(name=name): position for name, position in self._checkpoints.named.items()}
        found = [self._since(title, self._first_segment(position), position) for title, position in asked.items()]
        line = self._line()
        return found if line is None else [*found[:1], self._since(LINE, line, 0), *found[1:]]

    def _since(self, title: str, first: Segment, position: Position) -> Since:
        if position > self._checkpoints.stopped_at:
            return Since(title, _AHEAD, [])
        moments = self._moments()
        rows = sorted((row for row in self._rows() if row[0] >= first), key=lambda row: moments[row[0]])
        entries = [self._entry(*row) for row in rows]
        place = self._entry(min(first, len(self._tape.segments) - 1), "", "")
        return Since(title, place.place, entries)

    def _moments(self) -> list[int]:
        """Return a number for each segment, the same for those into which stops have divided one."""
        return list(accumulate((after != before for before, after in pairwise(self._tape.segments)), initial=0))

    def _first_segment(self, position: Position) -> Segment:
        """Return the segment that a moment begins, or for a moment of an earlier trace its line."""
        known = self._writer.segment_at.get(position)
        if known is not None:
            return known
        began = [row[0] for row in self._tape.segments]
        return next((number for number in reversed(range(len(began))) if began[number] <= position), 0)

    def _line(self) -> Segment | None:
        """Return the first segment of the line at which the frame is."""
        segments = self._tape.segments
        latest = list(segments.where(1, self._frame))
        if not latest:
            return None
        began = latest[-1][0]
        return next(number for number in range(len(segments)) if segments.row(number)[:2] == (began, self._frame))

    def _rows(self) -> Iterator[tuple[Segment, str, str]]:
        tape, texts, frames = self._tape, self._tape.texts.all, self._writer.frames
        names: dict[int, str] = {}
        latest: dict[tuple[Position, str, int, int], tuple[Segment, str, str]] = {}
        """The last change of a name or value by each line, which has several where it was stopped within."""
        for segment, frame, name, value, text, _ in tape.bindings:
            if frame in frames and texts[name] in tape.functions[frame].names and texts[name].isidentifier():
                names[value] = texts[name]
                bound = "deleted", texts[name]
                if value != UNBOUND:
                    bound = "name", f"{texts[name]} = {texts[text]}"
                latest[tape.segments.row(segment)[0], "name", frame, name] = segment, *bound
        for segment, value, text in tape.changes:
            if value in names:
                row = segment, "changed", f"{names[value]}: {texts[text]}"
                latest[tape.segments.row(segment)[0], "changed", 0, value] = row
        yield from latest.values()
        for segment, source, kind in tape.guards:
            yield segment, "guard", f"{texts[kind]} {texts[source]}".rstrip()
        for segment, symbol, sentence in tape.symbols:
            yield segment, "symbol", f"{texts[symbol]} {texts[sentence]}"
        for segment, text in tape.nodes:
            yield segment, "node", texts[text]
        for segment, what, text in tape.context:
            yield segment, texts[what], texts[text]

    def _entry(self, segment: Segment, what: str, text: str) -> Entry:
        began, path, line = self._tape.place(segment)
        return Entry(began, what, text, path, line)
