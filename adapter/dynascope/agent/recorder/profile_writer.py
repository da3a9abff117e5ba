"""Write the profile of a compile while Dynamo traces and torch compiles."""

from __future__ import annotations

import time
import types
from collections.abc import Callable

from dynascope.agent.recorder.shown_compile import ShownCompile
from dynascope.facts.model import InlinedCall
from dynascope.facts.profile import NO_PARENT, Phase, Profile, TracedFunction

_PHASES_KEPT = 2_000


class ProfileWriter:
    """The profile of one compile so far, in the compile's own time."""

    def __init__(self, now: Callable[[], float], shown: ShownCompile | None = None) -> None:
        """Take the clock of the thread that compiles, and what to tell the phases in progress."""
        self._began = time.time()
        self._now = now
        self._shown = shown
        self._start = now() if shown is None else shown.compile.start
        self._functions: list[TracedFunction] = []
        self._numbers: dict[tuple[int, int, int], int] = {}
        """The number of each function, by its caller, the caller's line and the identity of its code."""
        self._phases: list[Phase] = []
        self._open: list[int] = []
        self._left_out = 0
        self._before: tuple[int, list[tuple[float, int]]] = 0, []

    # ---- functions

    def entered(self, caller: int, call_line: int, code: types.CodeType, function: str, path: str, line: int) -> int:
        """Return the number of a function that Dynamo enters; `caller`: its caller's, or NO_PARENT."""
        key = caller, call_line, id(code)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._functions)
            self._functions.append(TracedFunction(caller, function, path, line, call_line))
        self._functions[number].count += 1
        return number

    def spent(self, number: int, seconds: float) -> None:
        """Add Dynamo's time for lines of a function."""
        self._functions[number].seconds += seconds

    # ---- phases

    def phase_begins(self, name: str) -> None:
        """Begin a phase within those that have begun."""
        number = len(self._phases)
        if number == _PHASES_KEPT:
            self._left_out += 1
            return
        parent = self._open[-1] if self._open else NO_PARENT
        self._open.append(number)
        self._phases.append(Phase(parent, name, self._now() - self._start))
        self._show()

    def phase_ends(self, name: str) -> bool:
        """End a phase; return whether it was the outermost.

        One that began before the compile is ignored.
        """
        if not any(self._phases[number].name == name for number in self._open):
            return False
        while self._phases[self._end_latest()].name != name:
            pass
        self._show()
        return not self._open

    def _show(self) -> None:
        if self._shown is not None:
            self._shown.phases_are([self._phases[number] for number in self._open])

    def _end_latest(self) -> int:
        number = self._open.pop()
        phase = self._phases[number]
        phase.seconds = self._now() - self._start - phase.began
        return number

    # ---- attempts

    def attempt_begins(self) -> None:
        """Remember what there is, for `forget_attempt`."""
        self._before = len(self._phases), [(each.seconds, each.count) for each in self._functions]

    def forget_attempt(self, seconds: float) -> None:
        """Forget what was written since the attempt began, as if its time had not passed."""
        phases, functions = self._before
        self._start += seconds
        for function, (spent, count) in zip(self._functions, functions, strict=False):
            function.seconds, function.count = spent, count
        for function in self._functions[len(functions) :]:
            function.seconds, function.count = 0.0, 0
        self._open = [number for number in self._open if number < phases]
        if self._shown is not None:
            self._shown.forget_attempt(seconds)
        self._show()
        del self._phases[phases:]

    def calls(self) -> list[InlinedCall]:
        """Return the functions that were entered since the attempt began."""
        before, numbers, found = self._before[1], dict[int, int](), list[InlinedCall]()
        for number, each in enumerate(self._functions):
            count = each.count - (before[number][1] if number < len(before) else 0)
            if count:
                numbers[number] = len(found)
                at = (self._functions[each.parent].path, each.call_line) if each.parent in numbers else (None, None)
                parent = numbers.get(each.parent)
                call = InlinedCall(
                    id=len(found),
                    parent=parent,
                    function=each.function,
                    path=each.path,
                    line=each.line,
                    first_line=each.line,
                    call_path=at[0],
                    call_line=at[1],
                    count=count,
                )
                found.append(call)
        return found

    def profile(self) -> Profile:
        """Return the profile; phases that have not ended end now."""
        while self._open:
            self._end_latest()
        return Profile(self._began, self._functions, self._phases, self._left_out)
