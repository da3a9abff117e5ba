"""Measure each thread's own time with a clock that excludes the time of its stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter


class Clock:
    """A clock used only by its own thread; only differences between its times are meaningful."""

    __slots__ = ("_began", "_stood", "_stops", "when_it_stands")

    def __init__(self) -> None:
        self._stood = 0.0
        self._stops = 0
        self._began = 0.0
        self.when_it_stands: list[Callable[[float, float | None], None]] = []
        """Called with `standing_now` when it begins to stand, and when it goes on."""

    def now(self) -> float:
        """Return the time in seconds."""
        return perf_counter() - self._stood

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Exclude the time of this block, in which the thread is stopped; nested blocks do nothing."""
        self._stops += 1
        try:
            if self._stops == 1:
                self._began = perf_counter()
                self._tell()
            yield
        finally:
            self._stops -= 1
            if not self._stops:
                self._stood += perf_counter() - self._began
                self._tell()

    @property
    def stands(self) -> bool:
        """Whether the thread is stopped: what it runs now is run for the debugger."""
        return self._stops > 0

    @property
    def standing_now(self) -> tuple[float, float | None]:
        """Return the seconds that are excluded, and since when it stands (None: it runs)."""
        return self._stood, self._began if self._stops else None

    def _tell(self) -> None:
        for tell in self.when_it_stands:
            tell(*self.standing_now)


_clocks: dict[int, Clock] = {}


def this_threads_clock() -> Clock:
    """Return this thread's clock, by ident; a later thread with the same ident may reuse it."""
    return _clocks.setdefault(threading.get_ident(), Clock())
