"""Choose a past line of an attempt that has ended, where no trace can be repeated. Used on the stopped thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.program.user_code import real_path
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tape.code import Code
from dynascope.agent.tape.instructions import FrameId, Position
from dynascope.agent.tape.playback import Playback, TapeLine
from dynascope.facts.file_names import short_name
from dynascope.wire.beyond_dap import FIRST_PAST
from dynascope.wire.messages import Granularity, ResumeCommand

_NOTHING_BEFORE = "Nothing before this is kept; only compile time goes back."
_START = "The first line that is kept: no breakpoint stops before."
_ENDED = "What Dynamo traced before is kept by line, not by instruction: step back by a line."
_NOT_BEGUN = "Before this point Dynamo began line {} of {} in no attempt that is kept."
_COMES = (
    "In compile [{}] Dynamo had not begun line {} of {} before this point, and a jump only goes back. To go on to a "
    "line, use Run to Cursor (at the prompt: `tbreak {}`, then `continue`)."
)
_NOT_THERE = "There is no way to that place: its compile is no longer kept."


class CannotGoBack(EvaluationError):
    """There is nothing to go back to, or a reason not to. The text is a message for the user."""


class RecordedPlace(NamedTuple):
    """A past line: the attempt's number, and the line's in the attempt."""

    attempt: int
    number: int


class Moment:
    """A line of a tape, with what there was when it began, and the stop to report there."""

    def __init__(self, attempt: Playback, line: TapeLine, place: RecordedPlace, stop: Stop) -> None:
        self.place = place
        self.stop = stop
        self.compile = attempt.name
        self.attempt, self.line = attempt, line
        self._frames = attempt.stack(line)
        codes = [(attempt.code(frame), line) for frame, line in self._frames]
        self.stack = [(code.name, code.file, line) for code, line in codes]
        """The function, path and line of each frame, innermost first."""

    @property
    def position(self) -> Position:
        """Return how many instructions had been traced when the line began, itself included."""
        return self.attempt.position(self.line)

    @property
    def description(self) -> str:
        """Return the heading of the stop."""
        return f"Past: compile [{self.compile}]"

    def names(self, depth: int) -> tuple[dict[str, str], dict[str, str]]:
        """Return the texts of the locals and closure of a frame; 0 is the innermost."""
        frame = self._frames[depth][0]
        texts, free = self.attempt.names(self.line, frame), self.attempt.code(frame).free
        closure = {name: text for name, text in texts.items() if name in free}
        return {name: text for name, text in texts.items() if name not in closure}, closure


class LookBack:
    """Where the user may go from a past line, and from a stop to past lines; the choice once it is made."""

    def __init__(
        self,
        attempts: Sequence[Playback],
        is_shown: Callable[[str], bool],
        stops_at: Callable[[str, int], bool],
        at: RecordedPlace | None = None,
        go_to_stop: Callable[[Position], None] | None = None,
    ) -> None:
        """Take the attempts that have ended, oldest first, and two questions about files.

        They are whether steps stop in a file, and whether a breakpoint does at a line. `at` is None at the stop;
        `go_to_stop` chooses a position of the compile that is stopped.
        """
        self.chosen: Moment | None = None
        self._attempts = attempts
        self._is_shown = is_shown
        self._stops_at = stops_at
        self._at = at
        self._go_to_stop = go_to_stop

    @property
    def look_back(self) -> LookBack:
        """Return this: a `TravelPlan` has another."""
        return self

    def at(self, moment: Moment, go_to_stop: Callable[[Position], None]) -> LookBack:
        """Return the same from a past line."""
        return LookBack(self._attempts, self._is_shown, self._stops_at, moment.place, go_to_stop)

    @property
    def is_empty(self) -> bool:
        """Whether no attempt is kept."""
        return next(self._before(), None) is None

    # ---- back

    def step_back(self, granularity: Granularity = "line") -> None:
        """Choose the line before in this function, or its caller. Raises CannotGoBack."""
        if granularity == "instruction":
            raise CannotGoBack(_ENDED)
        place = None
        if self._at is not None:
            frames = self._stack(self._at)
            place = next((each for each in self._before(self._at.attempt) if self._frame(each) in frames), None)
        self._choose(place or self._end_of_previous(), Stop("step"))

    def reverse_continue(self) -> None:
        """Choose the latest line where the thread stopped or would. Raises CannotGoBack."""
        place = next(filter(self._stops, self._before()), None)
        if place is not None:
            self._choose(place, Stop("breakpoint"))
        else:
            *_, first = (None, *self._before())
            self._choose(first, Stop("step", text=_START))

    def restart_frame(self, number: int) -> None:
        """Choose the first line of a call of a function; 0 is the innermost. Raises CannotGoBack."""
        place = None
        if self._at is not None:
            frame = self._stack(self._at)[number]
            every = range(len(self._attempts[self._at.attempt].lines))
            places = (RecordedPlace(self._at.attempt, each) for each in every)
            place = next(each for each in places if self._frame(each) == frame)
        self._choose(place, Stop("restart"))

    def line_before(self, path: str, line: int) -> tuple[Position, str]:
        """Return the target of where a line began last, and its function. Raises CannotGoBack.

        A line that comes in the attempt itself is not searched in those before.
        """
        own = None if self._at is None else self._at.attempt
        place = next((place for place in self._before() if self._is(place, path, line)), None)
        if own is not None and (place is None or place.attempt != own):
            others = (RecordedPlace(own, number) for number in range(len(self._attempts[own].lines)))
            if any(self._is(other, path, line) for other in others):
                raise CannotGoBack(_COMES.format(self._attempts[own].name, line, short_name(path), line))
        if place is None:
            raise CannotGoBack(_NOT_BEGUN.format(line, short_name(path)))
        attempt = self._attempts[place.attempt]
        return attempt.first_target + place.number, attempt.code(self._frame(place)).name

    def go_to(self, target: Position) -> None:
        """Choose a past line, or a position of the stop. Raises CannotGoBack."""
        if target < FIRST_PAST and self._go_to_stop is not None:
            self._go_to_stop(target)
            return
        for number, attempt in enumerate(self._attempts):
            if attempt.first_target <= target < attempt.first_target + len(attempt.lines):
                self._choose(RecordedPlace(number, target - attempt.first_target), Stop("goto"))
                return
        raise CannotGoBack(_NOT_THERE)

    # ---- and forward

    def forward(self, command: ResumeCommand) -> Moment | None:
        """Return the line where a command ends, or None where it leads back to the stop itself."""
        assert self._at is not None
        place: RecordedPlace | None
        if command == "continue":
            place = next(filter(self._stops, self._after()), None)
            return None if place is None else self._moment(place, Stop("breakpoint"))
        frames = self._stack(self._at)[1 if command == "stepOut" else 0 :]
        for place in self._after():
            if place.attempt != self._at.attempt or command == "stepIn" or self._frame(place) in frames:
                return self._moment(place, Stop("step"))
        return None

    # ----

    def _before(self, attempt: int | None = None) -> Iterator[RecordedPlace]:
        """Yield the lines before, the latest first; all, or those of one attempt."""
        end = self._at or RecordedPlace(len(self._attempts), 0)
        for each in range(end.attempt, -1, -1) if attempt is None else (attempt,):
            if each < len(self._attempts):
                count = end.number if each == end.attempt else len(self._attempts[each].lines)
                yield from filter(self._shows, (RecordedPlace(each, number) for number in range(count - 1, -1, -1)))

    def _after(self) -> Iterator[RecordedPlace]:
        assert self._at is not None
        for each in range(self._at.attempt, len(self._attempts)):
            start = self._at.number + 1 if each == self._at.attempt else 0
            places = (RecordedPlace(each, number) for number in range(start, len(self._attempts[each].lines)))
            yield from filter(self._shows, places)

    def _end_of_previous(self) -> RecordedPlace | None:
        """Return the line at which an earlier attempt ended, in a function it had not left."""
        before = len(self._attempts) if self._at is None else self._at.attempt
        for attempt in range(before - 1, -1, -1):
            frames = self._attempts[attempt].frames_at_end
            for number in range(len(self._attempts[attempt].lines) - 1, -1, -1):
                place = RecordedPlace(attempt, number)
                if self._frame(place) in frames and self._shows(place):
                    return place
        return None

    def _choose(self, place: RecordedPlace | None, stop: Stop) -> None:
        if place is None:
            raise CannotGoBack(_NOTHING_BEFORE)
        self.chosen = self._moment(place, stop)

    def _moment(self, place: RecordedPlace, stop: Stop) -> Moment:
        return Moment(self._attempts[place.attempt], self._line(place), place, stop)

    def _line(self, place: RecordedPlace) -> TapeLine:
        return self._attempts[place.attempt].lines[place.number]

    def _frame(self, place: RecordedPlace) -> FrameId:
        return self._line(place).frame

    def _is(self, place: RecordedPlace, path: str, line: int) -> bool:
        return self._line(place).line == line and real_path(self._code(place).file) == path

    def _code(self, place: RecordedPlace) -> Code:
        return self._attempts[place.attempt].code(self._frame(place))

    def _stack(self, place: RecordedPlace) -> list[FrameId]:
        return [frame for frame, _ in self._attempts[place.attempt].stack(self._line(place))]

    def _shows(self, place: RecordedPlace) -> bool:
        return self._is_shown(self._code(place).file)

    def _stops(self, place: RecordedPlace) -> bool:
        attempt, line = self._attempts[place.attempt], self._line(place)
        return attempt.has_stopped_at(line) or self._stops_at(self._code(place).file, line.line)
