"""Continue steps that leave a compile where the function runs uncompiled.

A function that Dynamo skips runs uncompiled, from a line that is not known in advance. pydevd gets a breakpoint on the
line where the step began; it never stops there, but the step continues from it.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any

from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.suspension.interface import LinePassed
from dynascope.wire.beyond_dap import FIRST_ENTRY_ID

_FIRST_ID = FIRST_ENTRY_ID << 1


class RuntimeSteps:
    """The run-time steps by thread; every method is called on the thread that steps."""

    def __init__(
        self,
        debugger: Any,
        api: Any,
        step_over: Callable[[types.FrameType], None],
        stepped_over: Callable[[], types.FrameType | None],
        lines_stopped_at: Callable[[str], Collection[int]],
        asks_twice: bool,
    ) -> None:
        """Create an instance of `api`, the class whose instances serve the client's requests.

        `step_over` begins a `next`, `stepped_over` returns the frame of the one in progress, `lines_stopped_at` the
        lines of a file with breakpoints. `asks_twice`: the debugger checks again after a step begins here.
        """
        self._debugger, self._api = debugger, api()
        self._step_over = step_over
        self._stepped_over = stepped_over
        self._lines_stopped_at = lines_stopped_at
        self._asks_twice = asks_twice
        self._awaited: dict[int, list[LinePassed]] = {}
        self._placed: dict[int, list[tuple[str, int]]] = {}
        """The paths and ids of breakpoints. Both by thread ident."""
        self._passing: set[int] = set()
        """The idents of threads that must not stop on the line they have reached."""
        self._last_id = _FIRST_ID

    def follow(self, passed: Sequence[LinePassed]) -> None:
        """Continue the step from the first of these lines that this thread reaches."""
        self.forget()
        ident = threading.get_ident()
        placed = self._placed[ident] = []
        self._awaited[ident] = list(passed)
        for path, line in {(begun.path, begun.line) for begun in passed}:
            if line in self._lines_stopped_at(path):
                continue  # pydevd keeps only one breakpoint for each line
            self._last_id += 1
            placed.append((path, self._last_id))
            how = "python-line", self._last_id, line, None, "None", None, "NONE", None, False
            unseen(self._api.add_breakpoint, self._debugger, path, *how)

    def forget(self) -> None:
        """Remove this thread's breakpoints: it has stopped, or its step continues elsewhere."""
        ident = threading.get_ident()
        self._awaited.pop(ident, None)
        for path, number in self._placed.pop(ident, ()):
            unseen(self._api.remove_breakpoint, self._debugger, path, "python-line", number)

    def comes_to_line(self, frame: types.FrameType) -> bool:
        """Whether a step continues from this line, where pydevd has reached some breakpoint."""
        ident = threading.get_ident()
        awaited = self._awaited.get(ident, ())
        if not any(passed.line == frame.f_lineno and passed.is_in(frame.f_code) for passed in awaited):
            return False
        del self._awaited[ident]  # breakpoints stay, because pydevd is reading one of them
        was_over = self._stepped_over() is not None
        self._step_over(frame)
        return was_over

    def pass_line(self) -> None:
        """Keep the step from stopping on this line, where pydevd with sys.monitoring would end it."""
        if self._asks_twice:
            self._passing.add(threading.get_ident())

    def passes(self) -> bool:
        return threading.get_ident() in self._passing

    def has_passed(self) -> bool:
        """Return `passes` and clear it."""
        passes = self.passes()
        self._passing.discard(threading.get_ident())
        return passes


def is_of_a_step(breakpoint_id: int) -> bool:
    """Whether the breakpoint is one of a step, at which no thread stops."""
    return breakpoint_id >= _FIRST_ID
