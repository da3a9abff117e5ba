"""Measure each thread's own time with a clock that excludes the time of its stops."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Clock:
    """A clock used only by its own thread; only differences between its times are meaningful."""

    __slots__ = ("_stood", "_stops")

    def __init__(self) -> None:
        self._stood = 0.0
        self._stops = 0

    def now(self) -> float:
        """Return the time in seconds."""
        return perf_counter() - self._stood

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Exclude the time of this block, in which the thread is stopped; nested blocks do nothing."""
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
    """Return this thread's clock, by ident; a later thread with the same ident may reuse it."""
    return _clocks.setdefault(threading.get_ident(), Clock())
