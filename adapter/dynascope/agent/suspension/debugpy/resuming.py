"""Have pydevd resume threads at once, single ones on request, and continue steps that leave a compile.

pydevd resumes all threads on `continue` and also on a step, and reports all as resumed when the first one is. A
function that Dynamo skips runs uncompiled, from a line that is not known in advance: pydevd gets a breakpoint on the
line where the step began; it never stops there, but the step continues from it.
"""

from __future__ import annotations

import functools
import socket
import threading
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any

from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.suspension.interface import LinePassed
from dynascope.wire.beyond_dap import FIRST_ENTRY_ID

Replace = Callable[[Any, str, Any], None]
"""Sets an attribute and remembers its original value."""
FindThread = Callable[[str], Any]
"""Returns the thread with an id of the debugger, or None."""


class Resuming:
    """Resume threads on the channel's thread; the wrappers run on pydevd's and stopped threads."""

    def __init__(self, debugger: Any, api: Any, stepping: Any, find_thread: FindThread, replace: Replace) -> None:
        """Wrap pydevd's modules `api`, which resumes for `continue`, and `stepping`, for steps."""
        self._debugger = debugger
        self._find_thread = find_thread
        self._notification = debugger.threads_suspended_single_notification
        self._resume = api.resume_threads
        self._single_threads: set[threading.Thread] = set()
        """The threads whose next command resumes only them."""
        debugger.writer.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        replace(debugger, "post_internal_command", self._resuming_at_once(debugger.post_internal_command))
        replace(api, "resume_threads", self._resume_all)
        replace(stepping, "resume_threads", self._unless_alone(stepping.resume_threads))
        kind = type(self._notification)
        replace(kind, "on_thread_resume", self._untold_when_alone(kind.on_thread_resume))

    def thread(self, thread_id: str) -> threading.Thread | None:
        """Return the thread that pydevd knows by this id, or None."""
        thread: threading.Thread | None = self._find_thread(thread_id)
        return thread

    def single_thread(self, thread_id: str) -> int | None:
        """Make the next command for a stopped thread resume only it; return its ident or None."""
        thread = self.thread(thread_id)
        if thread is None or not self.is_stopped(thread_id):
            return None
        self._single_threads.add(thread)
        return thread.ident

    def is_stopped(self, thread_id: str) -> bool:
        """Whether a thread waits; one in a lock, a sleep or the compiler keeps running."""
        return self._debugger.suspended_frames_manager.get_frames_list(thread_id) is not None

    def go_on(self, thread_id: str) -> None:
        """Resume only this thread."""
        self._resume(thread_id)
        self._is_resumed(self._find_thread(thread_id))
        self._debugger.get_internal_queue_and_event(thread_id)[1].set()

    def resume_all(self) -> None:
        """Resume every thread, as pydevd reports to the client when the first one is resumed."""
        self._resume_all("*")

    def _resuming_at_once(self, post: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        """Wake the thread at once: pydevd's wait polls, so that a step would take 203 ms."""

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
        """Answer `continue` if no thread waits: pydevd answers only when the first one resumes."""
        notification = self._notification
        with notification._lock:
            if notification._suspended_thread_id_to_thread:
                return
        with notification._callbacks_lock:
            callbacks, notification._callbacks = notification._callbacks, []
        for callback in callbacks:
            callback()

    def _unless_alone(self, resume: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap `resume`, called on a thread that begins a step, to keep other threads stopped."""

        @functools.wraps(resume)
        def resume_threads(thread_id: str, except_thread: Any = None) -> Any:
            if except_thread not in self._single_threads:
                return resume(thread_id, except_thread=except_thread)
            self._is_resumed(except_thread)
            return None

        return resume_threads

    def _is_resumed(self, thread: threading.Thread) -> None:
        """Forget the thread if each one is reported separately (`stopAllThreadsOnSuspend` false)."""
        if not self._notification.multi_threads_single_notification:
            self._single_threads.discard(thread)

    def _untold_when_alone(self, report: Callable[..., None]) -> Callable[..., None]:
        """Wrap `report`, called on a resuming thread, so that not all are reported as resumed."""

        def on_thread_resume(notification: Any, thread_id: str, thread: threading.Thread) -> None:
            if thread not in self._single_threads:
                report(notification, thread_id, thread)
                return
            self._single_threads.discard(thread)
            with notification._lock:
                notification._suspended_thread_id_to_thread.pop(thread_id, None)

        return on_thread_resume


_FIRST_ID = FIRST_ENTRY_ID << 1


class RuntimeSteps:
    """The run-time steps by thread; every method is called on the thread that steps."""

    def __init__(
        self,
        debugger: Any,
        api: Any,
        step_over: Callable[[types.FrameType], None],
        stepped_over: Callable[[], types.FrameType | None],
        lines_stopped_at: Callable[[str], Collection[int]],
        asks_twice: bool,
    ) -> None:
        """Create an instance of `api`, the class whose instances serve the client's requests.

        `step_over` begins a `next`, `stepped_over` returns the frame of the one in progress, `lines_stopped_at` the
        lines of a file with breakpoints. `asks_twice`: the debugger checks again after a step begins here.
        """
        self._debugger, self._api = debugger, api()
        self._step_over = step_over
        self._stepped_over = stepped_over
        self._lines_stopped_at = lines_stopped_at
        self._asks_twice = asks_twice
        self._awaited: dict[int, list[LinePassed]] = {}
        self._placed: dict[int, list[tuple[str, int]]] = {}
        """The paths and ids of breakpoints. Both by thread ident."""
        self._passing: set[int] = set()
        """The idents of threads that must not stop on the line they have reached."""
        self._last_id = _FIRST_ID

    def follow(self, passed: Sequence[LinePassed]) -> None:
        """Continue the step from the first of these lines that this thread reaches."""
        self.forget()
        ident = threading.get_ident()
        placed = self._placed[ident] = []
        self._awaited[ident] = list(passed)
        for path, line in {(begun.path, begun.line) for begun in passed}:
            if line in self._lines_stopped_at(path):
                continue  # pydevd keeps only one breakpoint for each line
            self._last_id += 1
            placed.append((path, self._last_id))
            how = "python-line", self._last_id, line, None, "None", None, "NONE", None, False
            unseen(self._api.add_breakpoint, self._debugger, path, *how)

    def forget(self) -> None:
        """Remove this thread's breakpoints: it has stopped, or its step continues elsewhere."""
        ident = threading.get_ident()
        self._awaited.pop(ident, None)
        for path, number in self._placed.pop(ident, ()):
            unseen(self._api.remove_breakpoint, self._debugger, path, "python-line", number)

    def comes_to_line(self, frame: types.FrameType) -> bool:
        """Whether a step continues from this line, where pydevd has reached some breakpoint."""
        ident = threading.get_ident()
        awaited = self._awaited.get(ident, ())
        if not any(passed.line == frame.f_lineno and passed.is_in(frame.f_code) for passed in awaited):
            return False
        del self._awaited[ident]  # breakpoints stay, because pydevd is reading one of them
        was_over = self._stepped_over() is not None
        self._step_over(frame)
        return was_over

    def pass_line(self) -> None:
        """Keep the step from stopping on this line, where pydevd with sys.monitoring would end it."""
        if self._asks_twice:
            self._passing.add(threading.get_ident())

    def passes(self) -> bool:
        return threading.get_ident() in self._passing

    def has_passed(self) -> bool:
        """Return `passes` and clear it."""
        passes = self.passes()
        self._passing.discard(threading.get_ident())
        return passes


def is_of_a_step(breakpoint_id: int) -> bool:
    """Whether the breakpoint is one of a step, at which no thread stops."""
    return breakpoint_id >= _FIRST_ID
