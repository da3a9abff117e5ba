"""Defer Ctrl-C during operations that must not be interrupted, and raise it where the main thread waits."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Handle Ctrl-C on the main thread inside `deferred`."""

    def __init__(self) -> None:
        self._pressed = False
        self._deferred = True

    def on_key(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT. A second Ctrl-C always raises: the deferred operation may hang."""
        if self._pressed or not self._deferred:
            self._pressed = False
            raise KeyboardInterrupt
        self._pressed = True

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """Raise KeyboardInterrupt at Ctrl-C inside this context, also for an earlier Ctrl-C."""
        self._deferred = False
        try:
            self.serve()
            yield
        finally:
            self._deferred = True

    def serve(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed before."""
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt


@contextmanager
def waiting_on(condition: threading.Condition) -> Iterator[None]:
    """Hold a condition while the main thread waits on it. Raises KeyboardInterrupt at Ctrl-C.

    Ctrl-C may come as `Condition.wait` has released the lock, which then cannot be released again.
    """
    try:
        with condition:
            yield
    except RuntimeError as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise


@contextmanager
def deferred() -> Iterator[Interrupts]:
    """Defer Ctrl-C to the next `let_through`, or to the end; only the main thread gets it."""
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.signal(signal.SIGINT, interrupts.on_key)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
    interrupts.serve()
