"""Threads that a debugger neither shows nor stops."""

from __future__ import annotations

import threading


def hide_thread(thread: threading.Thread) -> None:
    """Keep pydevd, if loaded, from tracing, stopping or showing a thread not yet started."""
    thread.is_pydev_daemon_thread = thread.pydev_do_not_trace = True  # type: ignore[attr-defined]


def shown_threads() -> int:
    """Return how many threads run that are the program's."""
    return sum(not getattr(thread, "is_pydev_daemon_thread", False) for thread in threading.enumerate())
