"""Unanswered requests about stopped threads: one that never ends must not leave the client without answers.

A stopped thread serves its requests in order, and resumes when they are served. An expression may never end; a
`cancel` raises an exception in its Python code. One that waits outside of Python, for a lock, can be interrupted on
the main thread only. So a command that resumes the thread cancels its requests after `PATIENCE` seconds. If one has not
ended another `PATIENCE` later, the user is told so, and this and later requests about the thread are refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from dynascope.wire.messages import Request, StoppedThreadRequest
from dynascope.wire.to_agent import Evaluate

PATIENCE = 1.0
"""Seconds that a request has to end before a waiting command cancels it, and again after the cancel."""

OVER = "That compile-time stop is over: the program has continued."


class PendingRequests:
    """Track the requests that one agent has not answered, including cancelled ones."""

    def __init__(self, cancel: Callable[[int], None], refuse: Callable[[int, str], None]) -> None:
        """Take `cancel`, by which the agent ends a request, and `refuse`, which answers it; by id."""
        self._cancel = cancel
        self._refuse = refuse
        self._unanswered: dict[int, StoppedThreadRequest] = {}
        self._stuck: dict[int, str] = {}
        """By thread ident: the reason why it does not answer."""
        self._waiting: list[tuple[int | None, Callable[[], None]]] = []
        """What to call for a resume command when its thread (None: any thread) is found to be stuck."""
        self.say: Callable[[str], None] = lambda sentence: None
        """Shows a sentence to the user."""

    def why_not(self, request: Request) -> str | None:
        """Return why the request cannot be answered if its thread is stuck; None otherwise."""
        return self._stuck.get(request.thread_ident) if isinstance(request, StoppedThreadRequest) else None

    def asked(self, request: Request) -> None:
        """Record that the request has been sent to the agent."""
        if isinstance(request, StoppedThreadRequest):
            self._unanswered[request.id] = request

    def answered(self, request_id: int) -> None:
        """Record that the request is answered: its thread is not stuck."""
        request = self._unanswered.pop(request_id, None)
        if request is not None:
            self._stuck.pop(request.thread_ident, None)

    def cancelled(self, request_id: int) -> None:
        """Send the cancel a second time later: the first may have come just before a wait began."""
        loop = asyncio.get_running_loop()
        loop.call_later(PATIENCE / 2, lambda: self._cancel(request_id) if request_id in self._unanswered else None)
        loop.call_later(PATIENCE, self._ends_not, request_id)

    def goes_on(self, thread_ident: int | None, when_stuck: Callable[[], None]) -> None:
        """End the requests that delay resuming a thread (None: all), or call `when_stuck`."""
        keeping = [id for id, request in self._unanswered.items() if thread_ident in (None, request.thread_ident)]
        if keeping:
            entry = thread_ident, when_stuck
            self._waiting.append(entry)
            loop = asyncio.get_running_loop()
            loop.call_later(PATIENCE, self._end, keeping)
            loop.call_later(3 * PATIENCE, self._waiting.remove, entry)

    def gone_on(self, thread_ident: int) -> None:
        """Refuse the unanswered requests of a thread whose stop is over."""
        self._stuck.pop(thread_ident, None)
        for request_id, request in list(self._unanswered.items()):
            if request.thread_ident == thread_ident:
                del self._unanswered[request_id]
                self._refuse(request_id, OVER)

    def forget(self) -> None:
        """Forget all requests: the agent is gone."""
        self._unanswered.clear()
        self._stuck.clear()

    def _end(self, keeping: Iterable[int]) -> None:
        for request_id in keeping:
            if request_id in self._unanswered:
                self._cancel(request_id)
                self.cancelled(request_id)

    def _ends_not(self, request_id: int) -> None:
        request = self._unanswered.get(request_id)
        if request is None:
            return
        ident = request.thread_ident
        work = f"the expression `{request.expression}`" if isinstance(request, Evaluate) else "a request"
        sentence = (
            f"This thread is still busy with {work}, which waits outside of Python, perhaps for a lock, where it "
            "cannot be cancelled. The thread does not answer or continue before that ends."
        )
        if ident not in self._stuck:
            self._stuck[ident] = sentence
            self.say(sentence)
        for other_id, other in list(self._unanswered.items()):
            if other.thread_ident == ident:
                self._refuse(other_id, sentence)
        for waits_for, when_stuck in self._waiting:
            if waits_for in (None, ident):
                when_stuck()
