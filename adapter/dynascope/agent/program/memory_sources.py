"""Serve source text without a file that `linecache` has, such as notebook cells and `exec`."""

from __future__ import annotations

import itertools
import linecache
import os.path
import threading

from dynascope.wire.beyond_dap import FIRST_AGENT_ID

_FIRST = FIRST_AGENT_ID + (1 << 29)
"""The first reference, above those of a session's documents, which start at FIRST_AGENT_ID."""


class MemorySources:
    """The `sourceReference` (DAP) of each such source in this process. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(_FIRST)
        self._references: dict[str, int] = {}

    def reference(self, path: str) -> int | None:
        """Return the reference of code's file name; None if it is a file or has no text."""
        if os.path.exists(path) or not linecache.getlines(path):
            return None
        with self._lock:
            if path not in self._references:
                self._references[path] = next(self._numbers)
            return self._references[path]

    def text(self, reference: int) -> str | None:
        """Return the current text of a reference; None if unknown or dropped by `linecache`."""
        with self._lock:
            path = next((path for path, number in self._references.items() if number == reference), None)
        return None if path is None else "".join(linecache.getlines(path)) or None


memory_sources = MemorySources()
