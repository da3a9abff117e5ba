"""Postpone garbage collection while the state of a stop is read.

A due collection visits every object that Dynamo has created, which can take a second, and would run the program's
finalizers during a request. Both are left until the program resumes.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_readers = 0
_was_enabled = False


@contextlib.contextmanager
def collection_postponed() -> Iterator[None]:
    """Disable the collector, for reading only; several threads may be inside at once."""
    global _readers, _was_enabled
    with _lock:
        if not _readers:
            _was_enabled = gc.isenabled()
            gc.disable()
        _readers += 1
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if not _readers and _was_enabled:
                gc.enable()
