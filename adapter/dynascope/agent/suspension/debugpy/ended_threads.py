"""Keep pydevd from mistaking ended threads for running ones, where it uses `sys.monitoring` (Python 3.12).

Python finalizes what a `threading.local` holds after the thread has left `threading`. For a function that runs there,
pydevd asks `threading` for the current thread, which makes a dummy thread under the same identifier, and keeps the
function's frame forever. The next thread with this identifier is then taken for the dummy thread, because pydevd looks
before the thread has replaced it: `stopped` events name the dummy thread, whose requests (`variables`, `continue`) are
never served. A program makes such a dummy thread itself where `__del__` logs.
"""

from __future__ import annotations

import sys
import threading
import types
from collections import deque
from collections.abc import Callable
from typing import Any

_STARTS = "_NewThreadStartupWithTrace.__call__"  # of _pydev_bundle.pydev_monkey
_MANY_AT_ONCE = 1000


def tell_threads_apart(monitoring: Any, replace: Callable[[Any, str, Any], None]) -> None:
    """Have pydevd neither trace ended threads nor find them, in forked children too.

    `monitoring` is `_pydevd_sys_monitoring.pydevd_sys_monitoring` of debugpy 1.8, and `replace` sets an attribute.
    """
    module: Any = sys.modules[monitoring.start_monitoring.__module__]  # compiled or not
    started: deque[int] = deque(maxlen=_MANY_AT_ONCE)
    """The system's identifiers of threads, because it gives them again only after many others."""

    class ThreadLocalInfo(threading.local):
        def __init__(self) -> None:
            """Decide what pydevd knows of the current thread when it first looks at it."""
            if _begins():
                _drop_dummy_thread()
                started.append(threading.get_native_id())
            elif threading.get_native_id() in started and threading.get_ident() not in threading._active:  # type: ignore[attr-defined]
                self.thread_info = module.ThreadInfo(None, threading.get_ident(), False, None)

    def reset_thread_local_info() -> None:
        module._thread_local_info = ThreadLocalInfo()

    replace(module, "_thread_local_info", ThreadLocalInfo())
    if hasattr(monitoring, "reset_thread_local_info"):
        replace(monitoring, "reset_thread_local_info", reset_thread_local_info)


def _begins() -> bool:
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_qualname == _STARTS


def _drop_dummy_thread() -> None:
    active: dict[int, threading.Thread] = threading._active  # type: ignore[attr-defined]
    ident = threading.get_ident()
    with threading._active_limbo_lock:  # type: ignore[attr-defined]
        if isinstance(active.get(ident), threading._DummyThread):
            del active[ident]
