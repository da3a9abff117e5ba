"""Serve requests on a stopped thread, and answer them in every case."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from dynascope.agent.program.collector import collection_postponed
from dynascope.agent.program.interruption import Cancelled, is_of_program
from dynascope.agent.session.session import AgentSession
from dynascope.wire.channel import encode_body
from dynascope.wire.from_agent import Failure, Reply
from dynascope.wire.messages import Request
from dynascope.wire.to_agent import Evaluate

Answer = Callable[[Any, Any], Any]
"""Serves a request (second argument) with the inspection of a stop (first argument)."""
CANCELLED = "cancelled"
NOT_STOPPED = "This thread is not stopped at compile time any more."


def serve(
    session: AgentSession,
    request: Request,
    handler: Answer | str,
    send: Callable[[Reply | Failure], object] | None = None,
) -> None:
    """Serve a request on the stopped thread, and send a reply, by default to the adapter."""
    from dynascope.agent.inspection.values import EvaluationError

    inspection, is_evaluation = session.stops.inspection(), isinstance(request, Evaluate)
    send = send or session.send
    if inspection is None:  # pydevd has kept the request until another stop
        session.stops.cancellation.forget(request.id)
        send(Failure(id=request.id, message=NOT_STOPPED))
        return
    method = getattr(inspection, handler) if isinstance(handler, str) else partial(handler, inspection)
    make_body = partial(method, request)
    raised: BaseException | None = None
    result: Reply | Failure
    try:
        with contextlib.nullcontext() if is_evaluation else collection_postponed():
            result = session.stops.cancellation.run(request.id, partial(answer, request, make_body, EvaluationError))
        if is_evaluation and inspection.evaluation_changed:
            inspection.evaluation_changed = False
            session.stops.invalidate(["variables"])
    except Cancelled:
        result = Failure(id=request.id, message=CANCELLED)
    except BaseException as error:  # raised by a signal handler: Ctrl-C ends an expression, otherwise the stop
        result = Failure(id=request.id, message=f"interrupted by {type(error).__name__}")
        raised = None if is_evaluation else error
    send(result)
    if raised is not None:
        raise raised


def answer(request: Request, make_body: Callable[[], Any], *sentences: type[Exception]) -> Reply | Failure:
    """Return the reply with the body from `make_body`, or a failure with its exception's text.

    The text of an exception in `sentences` is sent without its type.
    """
    try:
        body = make_body()
        return Reply(id=request.id, body=msgspec.Raw(b"{}") if body is None else encode_body(body))
    except sentences as error:
        return Failure(id=request.id, message=str(error))
    except Exception as error:
        if is_of_program(error):
            raise
        return Failure(id=request.id, message=f"{type(error).__name__}: {error}")
