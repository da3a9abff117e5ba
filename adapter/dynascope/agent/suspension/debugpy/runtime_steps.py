"""Steps that leave a compile and go on where the function runs uncompiled.

Where Dynamo gives up on a function, that runs uncompiled, from a line on that nobody knows: pydevd is given a
breakpoint on the line where the step began, never stops at it, and steps on from there.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any

from dynascope.agent.internals.compile.eval_frame import unseen
from dynascope.agent.suspension.interface import LinePassed
from dynascope.wire.dap import FIRST_ENTRY_ID

_FIRST_ID = FIRST_ENTRY_ID << 1


class RuntimeSteps:
    """On the thread that steps, all of it."""

    def __init__(
        self,
        debugger: Any,
        api: Any,
        step_over: Callable[[types.FrameType], None],
        stepped_over: Callable[[], types.FrameType | None],
        lines_stopped_at: Callable[[str], Collection[int]],
        asks_twice: bool,
    ) -> None:
        """`api` is the class whose instances serve the client's requests.

        `step_over` begins a `next`, `stepped_over` gives the frame of the one that is under way, `lines_stopped_at` the
        lines of a file that have breakpoints. `asks_twice`: whether the debugger sees a step that begins where it asks.
        """
        self._debugger, self._api = debugger, api()
        self._step_over = step_over
        self._stepped_over = stepped_over
        self._lines_stopped_at = lines_stopped_at
        self._asks_twice = asks_twice
        self._awaited: dict[int, list[LinePassed]] = {}
        self._placed: dict[int, list[tuple[str, int]]] = {}
        """Paths and ids of breakpoints. Both by thread ident."""
        self._passing: set[int] = set()
        """Idents of threads that stop nowhere on the line that they have come to."""
        self._last_id = _FIRST_ID

    def follow(self, passed: Sequence[LinePassed]) -> None:
        """Step on from whichever of these lines this thread comes to first."""
        self.forget()
        ident = threading.get_ident()
        placed = self._placed[ident] = []
        self._awaited[ident] = list(passed)
        for path, line in {(each.path, each.line) for each in passed}:
            if line in self._lines_stopped_at(path):
                continue  # one breakpoint for each line is all that pydevd keeps
            self._last_id += 1
            placed.append((path, self._last_id))
            how = "python-line", self._last_id, line, None, "None", None, "NONE", None, False
            unseen(self._api.add_breakpoint, self._debugger, path, *how)

    def forget(self) -> None:
        """The thread has stopped, or its step goes on elsewhere."""
        ident = threading.get_ident()
        self._awaited.pop(ident, None)
        for path, number in self._placed.pop(ident, ()):
            unseen(self._api.remove_breakpoint, self._debugger, path, "python-line", number)

    def comes_to_line(self, frame: types.FrameType) -> bool:
        """pydevd has come to a line with a breakpoint, of ours or of the client's; whether a step goes on from here."""
        ident = threading.get_ident()
        awaited = self._awaited.get(ident, ())
        if not any(each.line == frame.f_lineno and each.is_in(frame.f_code) for each in awaited):
            return False
        del self._awaited[ident]  # pydevd must not lose breakpoints here, amid its looking at one
        was_over = self._stepped_over() is not None
        self._step_over(frame)
        return was_over

    def pass_line(self) -> None:
        """The step goes on from this line: with sys.monitoring pydevd finds that it ends here, and would stop."""
        if self._asks_twice:
            self._passing.add(threading.get_ident())

    def passes(self) -> bool:
        return threading.get_ident() in self._passing

    def has_passed(self) -> bool:
        """`passes`, for the last time."""
        passes = self.passes()
        self._passing.discard(threading.get_ident())
        return passes


def is_of_a_step(breakpoint_id: int) -> bool:
    """Whether the breakpoint is one of these, at which nothing stops."""
    return breakpoint_id >= _FIRST_ID
