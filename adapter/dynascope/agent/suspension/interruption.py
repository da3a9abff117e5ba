"""Exceptions that the handler of a signal raised in a thread that was stopped: they are the program's.

Hook bodies contain every error of the debugger. What Ctrl-C, or a time limit set with `signal.alarm`, raises while a
thread waits at a stop comes through the same frames and has to reach the program.
"""

from __future__ import annotations

import sys
import threading

_raised: dict[int, BaseException] = {}
"""By thread ident: what ended the thread's last stop, if a signal did."""


def stop_begins() -> None:
    """Forget what ended the previous stop of the current thread."""
    _raised.pop(threading.get_ident(), None)


def stop_interrupted(error: BaseException) -> None:
    """Note that `error` ended the current thread's stop."""
    _raised[threading.get_ident()] = error


def raise_if_of_program() -> None:
    """Within an `except` clause: raise the exception again if the handler of a signal raised it."""
    error = sys.exception()
    if error is not None and _raised.get(threading.get_ident()) is error:
        raise error
