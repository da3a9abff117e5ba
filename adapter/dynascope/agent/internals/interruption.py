"""Pass on to the program the exceptions that a signal handler raises in a stopped thread.

Hook bodies contain every error of the debugger. An exception of Ctrl-C or `signal.alarm` raised while a thread waits at
a stop propagates through the same frames and has to reach the program.
"""

from __future__ import annotations

import threading

_raised: dict[int, BaseException] = {}
"""By thread ident: the exception of a signal handler that ended the thread's last stop."""


def stop_begins() -> None:
    """Forget the exception that ended the previous stop of the current thread."""
    _raised.pop(threading.get_ident(), None)


def stop_interrupted(error: BaseException) -> None:
    """Record that `error` ended the current thread's stop."""
    _raised[threading.get_ident()] = error


def is_of_program(error: BaseException) -> bool:
    """Whether a signal handler raised `error` while the current thread was stopped."""
    return _raised.get(threading.get_ident()) is error
