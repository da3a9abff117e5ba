"""No garbage is collected while a stop is read.

A collection that the program is due walks all that Dynamo has made, which can take a second, and finalizers of the
program would run in the midst of a look. Both are the program's own affair, for when it goes on.
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
    """For reading alone: code of the program keeps its collector. May be entered by several threads at once."""
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
