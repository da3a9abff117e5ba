"""Ending a look at a stop before it is done, on the stopped thread, wherever its Python is.

A page of rows, a document or an expression can take long. Checking for a cancel in each loop would miss the loops of
the user's expression, so the interpreter is asked to raise there (`PyThreadState_SetAsyncExc`), and only there: a look
is over only when nothing is left to be raised.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc


class Cancelled(BaseException):
    """Raised in the midst of a look. No error, so that nothing that shows errors swallows it."""


class Cancellation:
    """The looks that are under way or waiting, by request id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[int] = set()
        self._cancelled: set[int] = set()
        self._running: dict[int, int] = {}
        """By request: the thread that serves it."""

    def expect(self, request_id: int) -> None:
        """The request is about to be handed to a stopped thread."""
        with self._lock:
            self._waiting.add(request_id)

    def forget(self, request_id: int) -> None:
        """No thread takes it."""
        with self._lock:
            self._waiting.discard(request_id)

    def cancel(self, request_id: int) -> None:
        """End that look, or do not begin it; nothing when it is over. Any thread."""
        with self._lock:
            ident = self._running.pop(request_id, None)
            if ident is not None:
                _raise_in(ctypes.c_ulong(ident), ctypes.py_object(Cancelled))
            elif request_id in self._waiting:
                self._cancelled.add(request_id)

    def run(self, request_id: int, look: Callable[[], Result]) -> Result:
        """Do the look on the current thread; raises Cancelled."""
        ident = threading.get_ident()
        try:
            with self._lock:
                self._waiting.discard(request_id)
                if request_id in self._cancelled:
                    self._cancelled.discard(request_id)
                    raise Cancelled
                self._running[request_id] = ident
            return look()
        finally:
            self._over(request_id)

    def _over(self, request_id: int) -> None:
        """From here on nobody can cancel; a cancel that has not struck yet strikes here, not in the program."""
        try:
            with self._lock:
                was_cancelled = self._running.pop(request_id, None) is None
            # taking it back (with NULL) leaves CPython's flag up, and 3.11 then never runs another instruction
            for _ in range(1_000 if was_cancelled else 0):
                pass
        except Cancelled:
            with self._lock:
                self._running.pop(request_id, None)
