"""How pydevd lets threads go on: at once, and one of them alone when that is asked for.

pydevd resumes all threads on `continue`, and on a step, too; and reports that they go on when the first of them does.
"""

from __future__ import annotations

import functools
import socket
import threading
from collections.abc import Callable
from typing import Any

Replace = Callable[[Any, str, Any], None]
"""Sets an attribute, and remembers what it was."""
FindThread = Callable[[str], Any]
"""The thread of an id of the debugger's, None when there is none."""


class Resuming:
    """Call `single_thread` and `go_on` on the channel's thread; what is replaced runs on pydevd's and stopped ones."""

    def __init__(self, debugger: Any, api: Any, stepping: Any, find_thread: FindThread, replace: Replace) -> None:
        """The module `api` resumes for `continue`, `stepping` for steps."""
        self._debugger = debugger
        self._find_thread = find_thread
        self._notification = debugger.threads_suspended_single_notification
        self._resume = api.resume_threads
        self._single_threads: set[threading.Thread] = set()
        """Those whose next resumption is theirs alone."""
        debugger.writer.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        replace(debugger, "post_internal_command", self._resuming_at_once(debugger.post_internal_command))
        replace(api, "resume_threads", self._resume_all)
        replace(stepping, "resume_threads", self._unless_alone(stepping.resume_threads))
        kind = type(self._notification)
        replace(kind, "on_thread_resume", self._untold_when_alone(kind.on_thread_resume))

    def single_thread(self, thread_id: str) -> int | None:
        """The next command for this thread resumes no other; its ident, None when it is not stopped."""
        thread: threading.Thread | None = self._find_thread(thread_id)
        if thread is None or not self.is_stopped(thread_id):
            return None
        self._single_threads.add(thread)
        return thread.ident

    def is_stopped(self, thread_id: str) -> bool:
        """Whether it waits: one that is in a lock, a sleep or the compiler runs on when all are stopped."""
        return self._debugger.suspended_frames_manager.get_frames_list(thread_id) is not None

    def go_on(self, thread_id: str) -> None:
        """Resume this thread alone."""
        self._resume(thread_id)
        self._is_resumed(self._find_thread(thread_id))
        self._debugger.get_internal_queue_and_event(thread_id)[1].set()

    def resume_all(self) -> None:
        """Resume every thread, as pydevd tells the client when the first of them goes on."""
        self._resume_all("*")

    def _resuming_at_once(self, post: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        """Without this a step takes 203 ms: pydevd's wait polls."""

        def post_internal_command(command: Any, thread_id: str) -> Any:
            if thread_id != "*":
                do_it = command.do_it

                def resume_and_check(debugger: Any) -> Any:
                    try:
                        return do_it(debugger)
                    finally:
                        self._debugger.get_internal_queue_and_event(thread_id)[1].set()

                command.do_it = resume_and_check
            return post(command, thread_id)

        return post_internal_command

    def _resume_all(self, *args: Any, **kwargs: Any) -> Any:
        self._single_threads.clear()
        try:
            return self._resume(*args, **kwargs)
        finally:
            for event in list(self._debugger._thread_events.values()):
                event.set()
            self._answer_for_nobody()

    def _answer_for_nobody(self) -> None:
        """pydevd answers `continue` when the first stopped thread goes on: where none waits, nobody would."""
        notification = self._notification
        with notification._lock:
            if notification._suspended_thread_id_to_thread:
                return
        with notification._callbacks_lock:
            callbacks, notification._callbacks = notification._callbacks, []
        for callback in callbacks:
            callback()

    def _unless_alone(self, resume: Callable[..., Any]) -> Callable[..., Any]:
        """On a thread that begins a step, which resumes all others."""

        @functools.wraps(resume)
        def resume_threads(thread_id: str, except_thread: Any = None) -> Any:
            if except_thread not in self._single_threads:
                return resume(thread_id, except_thread=except_thread)
            self._is_resumed(except_thread)
            return None

        return resume_threads

    def _is_resumed(self, thread: threading.Thread) -> None:
        """Where each thread is reported by itself (`stopAllThreadsOnSuspend` is false), nothing is to be kept back."""
        if not self._notification.multi_threads_single_notification:
            self._single_threads.discard(thread)

    def _untold_when_alone(self, told: Callable[..., None]) -> Callable[..., None]:
        """On a thread that goes on: the client shall not hear that all of them do, before they do."""

        def on_thread_resume(notification: Any, thread_id: str, thread: threading.Thread) -> None:
            if thread not in self._single_threads:
                told(notification, thread_id, thread)
                return
            self._single_threads.discard(thread)
            with notification._lock:
                notification._suspended_thread_id_to_thread.pop(thread_id, None)

        return on_thread_resume
