"""Add up the CPU time of functions that may call one another."""

from __future__ import annotations

import time
from typing import Any


class Spent:
    """CPU seconds of this thread in the outermost of the functions that are counted."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0

    def count(self, owner: Any, name: str) -> None:
        """Count the calls of a method."""
        method = vars(owner)[name]

        def timed(*args: Any) -> Any:
            self._depth += 1
            began = time.thread_time()
            try:
                return method(*args)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += time.thread_time() - began

        setattr(owner, name, timed)
