"""Choose where to go back to from a stop. Used on the stopped thread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tape.instructions import Position
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.time_travel.lines_begun import latest_beginning, may_come, own_instructions
from dynascope.agent.tracing.time_travel.look_back import CannotGoBack, LookBack, Moment
from dynascope.agent.tracing.time_travel.travel import ToPosition, ToPreviousHit, Travel
from dynascope.facts.file_names import short_name
from dynascope.wire.beyond_dap import FIRST_PAST
from dynascope.wire.messages import Granularity

_AT_START = "This is the first line that Dynamo traced in this compile; only compile time goes back."
_START = "The first line that Dynamo traced in this compile: no breakpoint stops before."
_NOT_BEGUN = (
    "In this compile Dynamo has not begun line {} of {} before this point, and at compile time a jump only goes back. "
    "To go on to a line, use Run to Cursor (at the prompt: `tbreak {}`, then `continue`)."
)
_NOT_IN_COMPILE = "There is no way to that place: this attempt of the compile has not reached it."
_EFFECTS = (
    "To go back, Dynamo traces this frame again from its start, and not all can be undone: {}. Give the command again "
    "to go back all the same."
)


class TravelPlan:
    """Where the user may go back to from one stop, and the choice once it is made."""

    def __init__(
        self,
        state: CompileState,
        stack: Sequence[Translator],
        is_shown: Callable[[Translator], bool],
        stop: Stop,
        at_instruction: bool,
        look_back: LookBack,
    ) -> None:
        """Take the stack innermost first, and `is_shown`: whether steps stop in a frame.

        `at_instruction`: the stop is before an instruction, and not in the middle of it. `look_back` leads to the
        attempts before this one, which are kept.
        """
        self.chosen: Travel | Moment | None = None
        self.look_back = look_back
        self._state = state
        self._stack = stack
        self._is_shown = is_shown
        self._stop = stop
        self._at_instruction = at_instruction
        self._here = state.clock.traced.position

    def step_back(self, granularity: Granularity) -> None:
        """Choose the line, or the instruction, before this one in this frame, or else in its caller.

        Raises CannotGoBack.
        """
        by_instruction = granularity == "instruction"
        origin = self._state.stepped_from.get(self._here) if self._at_instruction else None
        if origin is not None and origin[1] == granularity:
            target: Position | None = origin[0]
        else:
            before = self._here if self._at_instruction else self._here + 1
            target = max(
                (
                    position
                    for frame in (self._stack[0], *filter(self._is_shown, self._stack[1:]))
                    for position in self._positions(frame, by_instruction)
                    if position < before
                ),
                default=None,
            )
        if target is None:
            self._choose_on_tape(lambda look_back: look_back.step_back(granularity))
        else:
            self._choose(ToPosition(target, Stop("step")))

    def reverse_continue(self) -> None:
        """Choose the latest breakpoint, or other stop, before this one. Raises CannotGoBack."""
        first = self._first(self._stack[-1])
        if first >= self._here and self._at_instruction:
            self._choose_on_tape(LookBack.reverse_continue)
            return
        start = ToPosition(first, Stop("step", text=_START))
        hits_before = self._state.hits_before
        self._choose(ToPreviousHit(self._here, self._stop, self._at_instruction, start, hits_before))

    def restart_frame(self, number: int) -> None:
        """Choose the first line of a call of a function; 0 is the innermost. Raises CannotGoBack."""
        self._choose(ToPosition(self._first(self._stack[number]), Stop("restart")))

    def line_before(self, path: str, line: int) -> tuple[Position, str]:
        """Return where a line began last before this stop, and its function. Raises CannotGoBack.

        Only a line of a function that this compile has not traced is searched in those before: others may still come.
        """
        before = self._here if self._at_instruction else self._here + 1
        clock = self._state.clock
        found = latest_beginning(clock.traced, path, line, before, clock.restored_at)
        if found is not None:
            return found
        if not may_come((*clock.traced.codes.values(), *clock.codes_beyond.values()), path, line):
            with contextlib.suppress(CannotGoBack):
                return self.look_back.line_before(path, line)
        raise CannotGoBack(_NOT_BEGUN.format(line, short_name(path), line))

    def go_to(self, position: Position) -> None:
        """Choose a position of this attempt, which may lie after this stop if it has been there.

        Raises CannotGoBack.
        """
        if position >= FIRST_PAST:
            self._choose_on_tape(lambda look_back: look_back.go_to(position))
            return
        if not 0 < position <= max(self._here, self._state.clock.furthest):
            raise CannotGoBack(_NOT_IN_COMPILE)
        self._choose(ToPosition(position, Stop("goto")))

    def _first(self, frame: Translator) -> Position:
        first = next(self._positions(frame, by_instruction=False), None)
        if first is None:
            raise CannotGoBack(_AT_START)
        return first

    def _choose_on_tape(self, choose: Callable[[LookBack], None]) -> None:
        """Choose a past line of an attempt before this one. Raises CannotGoBack."""
        if self.look_back.is_empty:
            raise CannotGoBack(_AT_START)
        choose(self.look_back)
        self.chosen = self.look_back.chosen

    def _choose(self, travel: Travel) -> None:
        state = self._state
        if state.effects and not state.effects_accepted:
            state.effects_accepted = True
            raise CannotGoBack(_EFFECTS.format("; ".join(state.effects)))
        self.chosen = travel

    def _positions(self, frame: Translator, by_instruction: bool) -> Iterator[Position]:
        clock = self._state.clock
        for position, begins_line in own_instructions(
            clock.traced, self._state.frames[id(frame)], frame, clock.restored_at
        ):
            if begins_line or by_instruction:
                yield position
