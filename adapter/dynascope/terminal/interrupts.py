"""Ctrl-C that never cuts in two what must be whole: held back, and let through where we wait."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Ctrl-C on the main thread while `deferred` is in force."""

    def __init__(self) -> None:
        self._pressed = False
        self._deferred = True

    def on_key(self, number: int, frame: FrameType | None) -> None:
        """The handler of SIGINT. A second press gets through in any case: what we do may hang."""
        if self._pressed or not self._deferred:
            self._pressed = False
            raise KeyboardInterrupt
        self._pressed = True

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """Here Ctrl-C raises KeyboardInterrupt, also the one that was pressed before."""
        self._deferred = False
        try:
            self.serve()
            yield
        finally:
            self._deferred = True

    def serve(self) -> None:
        """Raise KeyboardInterrupt where Ctrl-C was pressed before."""
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt


@contextmanager
def deferred() -> Iterator[Interrupts]:
    """Keep Ctrl-C for the next `let_through`, or for the end of this. For the main thread alone."""
    interrupts = Interrupts()
    before = signal.signal(signal.SIGINT, interrupts.on_key)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
    interrupts.serve()
