"""Hide threads from debuggers, and keep locks usable after fork.

A forked child has only the forking thread, and no other can release a lock.
"""

from __future__ import annotations

import os
import threading
from typing import Any


def hide_thread(thread: threading.Thread) -> None:
    """Keep pydevd, if loaded, from tracing, stopping or showing a thread not yet started."""
    thread.is_pydev_daemon_thread = thread.pydev_do_not_trace = True  # type: ignore[attr-defined]


def shown_threads() -> int:
    """Return how many threads run that are the program's."""
    return sum(not getattr(thread, "is_pydev_daemon_thread", False) for thread in threading.enumerate())


def fork_safe(lock: Any) -> Any:
    """Return `lock`, held across os.fork() so that the state it guards is consistent in a child."""
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
