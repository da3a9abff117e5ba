"""Threads that a debugger neither shows nor stops."""

from __future__ import annotations

import threading


def hide_thread(thread: threading.Thread) -> None:
    """Mark a thread, not yet started, as one that pydevd never traces, stops or shows; harmless without pydevd."""
    thread.is_pydev_daemon_thread = thread.pydev_do_not_trace = True  # type: ignore[attr-defined]
