"""Stop threads in a queue each, without debugpy or in sessions with `runtime: false`."""

from __future__ import annotations

import queue
import threading
import types
from collections.abc import Callable

from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason

_SECONDS_OF_A_WAIT = 0.2
"""How long the main thread waits at once: a signal that comes just before a wait is handled only after it."""


class OwnLoop(Suspension):
    """Block a stopped thread in a `get` in C: other threads keep running."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[ResumeCommand | Callable[[], None]]] = {}
        self._pausing: set[int] = set()
        self._pause_next = False
        self._released = False

    def prepare(self) -> None:
        with self._lock:
            self._waiting[threading.get_ident()] = queue.SimpleQueue()

    def wait(
        self, frames: list[StackFrame], runtime_frame: types.FrameType | None, reason: StopReason
    ) -> ResumeCommand:
        ident = threading.get_ident()
        with self._lock:
            jobs = self._waiting[ident]
            self._pausing.discard(ident)
            self._pause_next = False
            if self._released:
                jobs.put("continue")
        try:
            while True:
                job = _next(jobs)
                if isinstance(job, str):
                    return job
                job()
        finally:
            with self._lock:
                del self._waiting[ident]

    def post(self, thread_ident: int, job: Callable[[], None]) -> bool:
        return self._put(thread_ident, job)

    def resume(self, thread_ident: int, command: ResumeCommand) -> bool:
        return self._put(thread_ident, command)

    def _put(self, thread_ident: int, job: ResumeCommand | Callable[[], None]) -> bool:
        with self._lock:
            jobs = self._waiting.get(thread_ident)
            if jobs is None:
                return False
            jobs.put(job)
            return True

    def release_all(self) -> None:
        with self._lock:
            self._released = True
            self._pausing.clear()
            self._pause_next = False
            for jobs in self._waiting.values():
                jobs.put("continue")

    def request_pause(self, thread_ident: int | None) -> None:
        with self._lock:
            if thread_ident is None:
                self._pause_next = True
            else:
                self._pausing.add(thread_ident)

    def pause_requested(self) -> bool:
        with self._lock:
            return self._pause_next or threading.get_ident() in self._pausing


def _next(jobs: queue.SimpleQueue[ResumeCommand | Callable[[], None]]) -> ResumeCommand | Callable[[], None]:
    if threading.current_thread() is not threading.main_thread():
        return jobs.get()
    while True:
        try:
            return jobs.get(timeout=_SECONDS_OF_A_WAIT)
        except queue.Empty:
            continue
