"""Show other processes a compile in progress (`dynascope top`), as its thread goes through it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from dynascope.agent.program.clock import Clock
from dynascope.agent.recorder.frame import RecordedFrame
from dynascope.facts.in_progress import CompileInProgress, Slot, Standing, TracingPlace
from dynascope.facts.profile import Phase

_NAMES = 80
"""Phases whose time is told one by one; torch has some fifty names, and more for templates that it tunes."""


class ShownCompile:
    """What is shown of one compile, or of what torch compiles later for one."""

    def __init__(self, slot: Slot, clock: Clock, compile: CompileInProgress) -> None:
        """Show `compile`, which begins now, on this thread."""
        self._slot = slot
        self._clock = clock
        self.compile = compile
        self.place: TracingPlace | None = None
        compile.start, compile.thread = clock.now(), _name_of_this_thread()
        self._kept: tuple[dict[str, float], float] = {}, 0.0
        clock.when_it_stands.append(self._stands)
        self._stands(*clock.standing_now)
        slot.write(self.compile)

    def phases_are(self, phases: Sequence[Phase]) -> None:
        """Show the phases that have begun and not ended."""
        self._charge()
        self.compile.phases = [(each.name, each.began) for each in phases]
        self._slot.write(self.compile)

    def _charge(self) -> None:
        shown, now = self.compile, self._clock.now() - self.compile.start
        name = shown.phases[-1][0] if shown.phases else ""
        if name not in shown.spent and len(shown.spent) > _NAMES:
            name = ""
        shown.spent[name] = shown.spent.get(name, 0.0) + now - shown.charged
        shown.charged = now

    def traces(self, frame: RecordedFrame | None) -> None:
        """Show where Dynamo is; None: it has left the outermost frame."""
        if frame is None:
            self.place = None
            self._slot.clear(TracingPlace)
            return
        user = frame.in_user_code or frame
        self.place = TracingPlace(*self._at(user), None if user is frame else self._at(frame))
        self._slot.write(self.place)

    def _at(self, frame: RecordedFrame) -> tuple[str, int, str, float]:
        return frame.code.path, frame.line, frame.code.function, frame.line_began - self.compile.start

    def attempt_begins(self, number: int) -> None:
        """Show an attempt, and remember the times until now."""
        self._charge()
        self._kept = dict(self.compile.spent), self.compile.charged
        self.compile.attempt = number
        self._slot.write(self.compile)

    def forget_attempt(self, seconds: float) -> None:
        """Show times as if those seconds, those of an abandoned attempt, had not passed."""
        spent, self.compile.charged = self._kept
        self.compile.spent = dict(spent)
        self.compile.start += seconds

    def ends(self) -> None:
        """Show it no more."""
        self._clock.when_it_stands.remove(self._stands)
        self._slot.close()

    def _stands(self, seconds: float, since: float | None) -> None:
        self._slot.write(Standing(seconds, since))


def _name_of_this_thread() -> str:
    # threading.current_thread() would make one for a thread of C++, which the program could see
    ident = threading.get_ident()
    return next((thread.name for thread in threading.enumerate() if thread.ident == ident), "a thread of autograd")
