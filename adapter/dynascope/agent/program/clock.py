"""A clock of each thread that stands still while the debugger holds the thread: it measures the program's own time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Clock:
    """Read and held by its own thread alone; only differences mean something."""

    __slots__ = ("_stood", "_stops")

    def __init__(self) -> None:
        self._stood = 0.0
        self._stops = 0

    def now(self) -> float:
        """Seconds."""
        return perf_counter() - self._stood

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Around the time in which somebody looks at the thread; within itself it does nothing."""
        began = perf_counter()
        self._stops += 1
        try:
            yield
        finally:
            self._stops -= 1
            if not self._stops:
                self._stood += perf_counter() - began


_clocks: dict[int, Clock] = {}


def this_threads_clock() -> Clock:
    """By ident, which a later thread may have again: the differences it takes are its own."""
    return _clocks.setdefault(threading.get_ident(), Clock())
