"""Pass on to the program the exceptions that a signal handler raises in a stopped thread.

Hook bodies contain every error of the debugger. An exception of Ctrl-C or `signal.alarm` raised while a thread waits at
a stop propagates through the same frames and has to reach the program.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import signal
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

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
    handlers = _codes_of_handlers()
    return any(frame.f_code in handlers for frame, _ in traceback.walk_tb(error.__traceback__))


def _codes_of_handlers() -> set[types.CodeType]:
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    return {code for handler in handlers if callable(handler) and (code := _code(handler)) is not None}


def _code(handler: Any) -> types.CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


Result = TypeVar("Result")
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_WAKING: Any = getattr(signal, "SIGURG", None)
"""A signal that does nothing to a program that has no handler for it."""


def _wake(number: int, frame: Any) -> None:
    """Run first in a woken thread, so that `Cancelled` is raised here and ends the wait."""


class Cancelled(BaseException):
    """Raised in a cancelled request; no Exception, so that no display of errors catches it."""


class Cancellation:
    """The requests, by id, that stopped threads serve or are about to serve.

    A page of rows, a document or an expression can take long. Checks in each loop would miss the loops of the user's
    expression, so the interpreter raises in that thread (`PyThreadState_SetAsyncExc`). A request ends only when no
    exception is left to be raised, so that none reaches the program.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[int] = set()
        self._cancelled: set[int] = set()
        self._running: dict[int, int] = {}
        """The ident of the thread that serves each request, by the number of the request."""
        self._struck: set[int] = set()
        """The running requests in which Cancelled was raised."""
        self._wakeable: set[int] = set()
        """The idents of threads that a signal wakes from a wait in C: the main thread while it serves a request."""

    def expect(self, request_id: int) -> None:
        """Register a request that is about to be posted to a stopped thread."""
        with self._lock:
            self._waiting.add(request_id)

    def forget(self, request_id: int) -> None:
        """Drop a request that no thread serves."""
        with self._lock:
            self._waiting.discard(request_id)

    def cancel(self, request_id: int) -> None:
        """End that request or prevent its start; do nothing when it is over. Any thread.

        The caller repeats this: a signal that arrives just before the thread begins to wait does not wake it.
        """
        with self._lock:
            ident = self._running.get(request_id)
            if ident is not None:
                if request_id not in self._struck:
                    self._struck.add(request_id)
                    _raise_in(ctypes.c_ulong(ident), ctypes.py_object(Cancelled))
                if ident in self._wakeable:
                    signal.pthread_kill(ident, _WAKING)
            elif request_id in self._waiting:
                self._cancelled.add(request_id)

    def cancel_all(self) -> None:
        """Cancel every request, at the end of the session. Any thread."""
        with self._lock:
            requests = [*self._waiting, *self._running]
        for request_id in requests:
            self.cancel(request_id)

    def run(self, request_id: int, serve: Callable[[], Result]) -> Result:
        """Serve the request on the current thread. Raises Cancelled."""
        ident = threading.get_ident()
        with self._woken_by_signal(ident):
            try:
                with self._lock:
                    self._waiting.discard(request_id)
                    if request_id in self._cancelled:
                        self._cancelled.discard(request_id)
                        raise Cancelled
                    self._running[request_id] = ident
                return serve()
            finally:
                self._over(request_id)

    @contextlib.contextmanager
    def _woken_by_signal(self, ident: int) -> Iterator[None]:
        """Install the waking signal's handler on the main thread, unless the program has its own."""
        if (
            threading.current_thread() is not threading.main_thread()
            or _WAKING is None
            or signal.getsignal(_WAKING) is not signal.SIG_DFL
        ):
            yield
            return
        signal.signal(_WAKING, _wake)
        self._wakeable.add(ident)
        try:
            yield
        finally:
            with self._lock:
                self._wakeable.discard(ident)
            signal.signal(_WAKING, signal.SIG_DFL)

    def _over(self, request_id: int) -> None:
        """End the request; a pending Cancelled is raised here and not in the program."""
        try:
            with self._lock:
                was_cancelled = self._is_over(request_id)
            # clearing it (with NULL) leaves CPython's flag set, and 3.11 then never runs another instruction
            for _ in range(1_000 if was_cancelled else 0):
                pass
        except Cancelled:
            with self._lock:
                self._is_over(request_id)

    def _is_over(self, request_id: int) -> bool:
        self._running.pop(request_id, None)
        was_struck = request_id in self._struck
        self._struck.discard(request_id)
        return was_struck
