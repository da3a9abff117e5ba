"""Read a compile-time stop from another thread of the same program, for instance from a notebook's subshell."""

from __future__ import annotations

import itertools
import queue
import sys
import threading
import time
from functools import partial
from typing import TypeVar

import msgspec

from dynascope.agent.program.threads import all_frames, program_frames
from dynascope.agent.program.user_code import is_torch_dynamo
from dynascope.agent.session.requests.registry import AT_STOP
from dynascope.agent.session.session import AgentSession, current_session
from dynascope.agent.session.stopped_thread import CANCELLED, serve
from dynascope.wire.beyond_dap import FormattedStackBody
from dynascope.wire.dap import EvaluateResult, Scope, ScopesBody, StackFrame, Variable, VariablesBody
from dynascope.wire.from_agent import Failure, Reply
from dynascope.wire.messages import StoppedThreadRequest
from dynascope.wire.to_agent import Evaluate, FormatStack, Scopes, Variables

Body = TypeVar("Body")
SECONDS = 40.0
"""The longest time to wait for an answer: a notebook shows nothing of a cell in the meantime."""
_OFTEN, _CANCELLING = 0.2, 5.0
"""Seconds between two looks at whether the thread is still stopped, and in which a late request is cancelled."""
_NONE_STOPPED = "No thread is stopped at compile time. A breakpoint of a debugger stops one: `%dynascope attach`."
_ids = itertools.count(-1, -1)
"""The ids of requests; those of the adapter are positive."""


class NotAnswered(Exception):
    """There is no answer; the text is a message for the user."""


def stopped_threads() -> list[AskedThread]:
    """Return the threads that are stopped at compile time. Raises NotAnswered where none is."""
    session = current_session()
    stopped = session.stops.stopped_threads() if session is not None else set()
    threads = sorted((each for each in threading.enumerate() if each.ident in stopped), key=lambda each: each.name)
    if session is None or not threads:
        raise NotAnswered(_NONE_STOPPED)
    return [AskedThread(session, thread) for thread in threads]


class AskedThread:
    """A stopped thread that serves requests of this process as it serves the adapter's. Methods raise NotAnswered."""

    def __init__(self, session: AgentSession, thread: threading.Thread) -> None:
        self._session = session
        self._ident = thread.ident or 0
        self.name = thread.name

    def frames(self) -> list[StackFrame]:
        """Return the frames that Dynamo traces, innermost first, then those of the running program."""
        frames = self._ask(FormatStack(parameters=False), FormattedStackBody).stack_frames
        return frames if self._session.suspension.kind == "own loop" else [*frames, *self._running()]

    def scopes(self, frame: StackFrame) -> list[Scope]:
        return self._ask(Scopes(frame_id=frame.id), ScopesBody).scopes

    def rows(self, reference: int, count: int | None = None) -> list[Variable]:
        """Return the rows of a scope or a value; `count` is the most."""
        if not reference:
            return []
        return self._ask(Variables(variables_reference=reference, start=0, count=count), VariablesBody).variables

    def evaluate(self, frame: StackFrame, expression: str) -> EvaluateResult:
        """Evaluate as the debug console does, its commands included."""
        return self._ask(Evaluate(frame_id=frame.id, expression=expression), EvaluateResult)

    def _running(self) -> list[StackFrame]:
        """Return the frames of the running program, which debugpy shows to its client."""
        from dynascope.agent.inspection.stack_frames import runtime_frame

        frames = all_frames(sys._current_frames().get(self._ident))
        # those of debugpy are within Dynamo's
        within = next((at for at, each in enumerate(frames) if is_torch_dynamo(each.f_code.co_filename)), len(frames))
        shown = program_frames(frames[within], self._session.suspension.is_user_code) if frames[within:] else []
        return [runtime_frame(0, each) for each in shown]

    def _ask(self, request: StoppedThreadRequest, body: type[Body]) -> Body:
        if self._ident == threading.get_ident():
            raise NotAnswered("This is the stopped thread itself: run the command in a subshell.")
        request.id, request.thread_ident = next(_ids), self._ident
        cancellation, answers = self._session.stops.cancellation, queue.SimpleQueue[Reply | Failure]()
        job = partial(serve, self._session, request, AT_STOP[type(request)][1], answers.put)
        cancellation.expect(request.id)
        if not self._session.suspension.post(self._ident, job):
            cancellation.forget(request.id)
            raise NotAnswered(f"{self.name} has gone on.")
        answer = self._wait(answers, request.id)
        if isinstance(answer, Failure):
            is_late = answer.message == CANCELLED
            raise NotAnswered(f"Cancelled after {SECONDS:.0f} s." if is_late else answer.message)
        return msgspec.json.decode(answer.body, type=body)

    def _wait(self, answers: queue.SimpleQueue[Reply | Failure], request_id: int) -> Reply | Failure:
        end = time.monotonic() + SECONDS
        cancel = partial(self._session.stops.cancellation.cancel, request_id)
        while True:
            try:
                return answers.get(timeout=_OFTEN)
            except queue.Empty:
                pass
            except BaseException:
                cancel()
                raise
            if self._ident not in self._session.stops.stopped_threads():
                cancel()
                raise NotAnswered(f"{self.name} has gone on.")
            late = time.monotonic() - end
            if late > 0:
                cancel()  # again and again: see `Cancellation.cancel`
            if late > _CANCELLING:
                raise NotAnswered(f"{self.name} has not answered for {SECONDS:.0f} s, and could not be interrupted.")
