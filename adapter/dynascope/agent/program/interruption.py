"""Pass on to the program the exceptions that a signal handler raises in a stopped thread.

Hook bodies contain every error of the debugger. An exception of Ctrl-C or `signal.alarm` raised while a thread waits at
a stop propagates through the same frames and has to reach the program.
"""

from __future__ import annotations

import functools
import signal
import threading
import types
from typing import Any

_raised: dict[int, BaseException] = {}
"""By thread ident: the exception of a signal handler that ended the thread's last stop."""


def stop_begins() -> None:
    """Forget the exception that ended the previous stop of the current thread."""
    _raised.pop(threading.get_ident(), None)


def stop_interrupted(error: BaseException) -> None:
    """Record that `error` ended the current thread's stop."""
    _raised[threading.get_ident()] = error


def is_of_program(error: BaseException) -> bool:
    """Whether `error` ended this thread's stop, or comes from the program's signal handler."""
    if _raised.get(threading.get_ident()) is error:
        return True
    trace, handlers = error.__traceback__, _codes_of_handlers()
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def _codes_of_handlers() -> set[types.CodeType]:
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    return {code for handler in handlers if callable(handler) and (code := _code(handler)) is not None}


def _code(handler: Any) -> types.CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return code if isinstance(code, types.CodeType) else None
