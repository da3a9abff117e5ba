"""What stopped threads are asked: a look that does not end must not leave the client without answers.

A stopped thread serves one look after another, and goes on when they are served. An expression may have no end; a
`cancel` raises in it, wherever its Python is. But one that waits outside of Python, for a lock, can be ended on the
main thread alone. So a command that lets the thread go on cancels, after a while, what keeps it; and what a cancel has
not ended after another while is said to the client, whose open and later questions to that thread are refused with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from dynascope.wire.messages import Request, StoppedThreadRequest
from dynascope.wire.to_agent import Evaluate

PATIENCE = 1.0
"""Seconds in which a look has to end before it is cancelled for a command that waits, and then again."""

OVER = "That compile-time stop is over: the program has gone on."


class PendingRequests:
    """Those that one agent has not answered, cancelled ones among them."""

    def __init__(self, cancel: Callable[[int], None], refuse: Callable[[int, str], None]) -> None:
        """`cancel` has the agent end a look, `refuse` answers one with an error; both by request id."""
        self._cancel = cancel
        self._refuse = refuse
        self._unanswered: dict[int, StoppedThreadRequest] = {}
        self._stuck: dict[int, str] = {}
        """By thread ident: why it answers nothing."""
        self._waiting: list[tuple[int | None, Callable[[], None]]] = []
        """What commands to go on do when their thread (None: any) turns out to be stuck."""
        self.say: Callable[[str], None] = lambda sentence: None
        """Tells the user."""

    def why_not(self, request: Request) -> str | None:
        """Why this cannot be answered now, if it is a look at a thread that is stuck."""
        return self._stuck.get(request.thread_ident) if isinstance(request, StoppedThreadRequest) else None

    def asked(self, request: Request) -> None:
        """It has been sent to the agent."""
        if isinstance(request, StoppedThreadRequest):
            self._unanswered[request.id] = request

    def answered(self, request_id: int) -> None:
        """Its thread serves the next."""
        request = self._unanswered.pop(request_id, None)
        if request is not None:
            self._stuck.pop(request.thread_ident, None)

    def cancelled(self, request_id: int) -> None:
        """The agent has been told to end it, and is told again: the first time may be just before a wait begins."""
        loop = asyncio.get_running_loop()
        loop.call_later(PATIENCE / 2, self._cancel_again, request_id)
        loop.call_later(PATIENCE, self._ends_not, request_id)

    def goes_on(self, thread_ident: int | None, when_stuck: Callable[[], None]) -> None:
        """A command lets this thread go on, or all of them: end what keeps it, or call `when_stuck`."""
        keeping = [id for id, request in self._unanswered.items() if thread_ident in (None, request.thread_ident)]
        if keeping:
            entry = thread_ident, when_stuck
            self._waiting.append(entry)
            loop = asyncio.get_running_loop()
            loop.call_later(PATIENCE, self._end, keeping)
            loop.call_later(3 * PATIENCE, self._waiting.remove, entry)

    def gone_on(self, thread_ident: int) -> None:
        """This thread's stop is over: what it was asked too late it will not answer."""
        self._stuck.pop(thread_ident, None)
        for request_id, request in list(self._unanswered.items()):
            if request.thread_ident == thread_ident:
                del self._unanswered[request_id]
                self._refuse(request_id, OVER)

    def forget(self) -> None:
        """The agent is gone: nothing keeps anybody any more."""
        self._unanswered.clear()
        self._stuck.clear()

    def _end(self, keeping: Iterable[int]) -> None:
        for request_id in keeping:
            if request_id in self._unanswered:
                self._cancel(request_id)
                self.cancelled(request_id)

    def _cancel_again(self, request_id: int) -> None:
        if request_id in self._unanswered:
            self._cancel(request_id)

    def _ends_not(self, request_id: int) -> None:
        request = self._unanswered.get(request_id)
        if request is None:
            return
        ident = request.thread_ident
        what = f"the expression `{request.expression}`" if isinstance(request, Evaluate) else "what it was asked"
        sentence = (
            f"This thread is still at {what}, which waits outside of Python, perhaps for a lock, where it cannot be "
            "cancelled. The thread answers nothing and does not go on before that ends."
        )
        if ident not in self._stuck:
            self._stuck[ident] = sentence
            self.say(sentence)
        for each, other in list(self._unanswered.items()):
            if other.thread_ident == ident:
                self._refuse(each, sentence)
        for waits_for, when_stuck in self._waiting:
            if waits_for in (None, ident):
                when_stuck()
