"""The registry of request handlers: decorators add a handler, `serve` finds and calls it.

`@serves` handlers run on the channel's thread and get the session; `@serves_at_stop` handlers run on the stopped thread
that the request is about and get the inspection of its stop. Both return the body of the reply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dynascope.agent.session.session import AgentSession
from dynascope.agent.session.stopped_thread import answer, post
from dynascope.wire.messages import Message, Request

Handler = TypeVar("Handler", bound=Callable[[Any, Any], Any])
FindThread = Callable[[AgentSession, Any], int | None]
"""Returns the ident of the stopped thread that a request is about, or None."""

_handlers: dict[type[Message], Callable[[AgentSession, Any], Any]] = {}
_at_stop: dict[type[Message], tuple[FindThread, Callable[[Any, Any], Any]]] = {}


class RequestFailed(Exception):
    """A request that cannot be served. The text is a message for the user."""


def serves(kind: type[Message]) -> Callable[[Handler], Handler]:
    """Register a handler of messages of this kind."""

    def register(handler: Handler) -> Handler:
        _handlers[kind] = handler
        return handler

    return register


def serves_at_stop(
    kind: type[Message], thread: FindThread = lambda session, request: request.thread_ident
) -> Callable[[Handler], Handler]:
    """Register a handler of requests of this kind that are about a stopped thread."""

    def register(handler: Handler) -> Handler:
        _at_stop[kind] = thread, handler
        return handler

    return register


def serve(session: AgentSession, message: Message) -> None:
    """Serve one message. Channel thread."""
    if not isinstance(message, Request):
        _handlers[type(message)](session, message)
        return
    find_thread, at_stop = _at_stop.get(type(message), (None, None))
    thread = None if find_thread is None else find_thread(session, message)
    if thread is not None and at_stop is not None:
        post(session, thread, message, at_stop)
    else:
        session.send(answer(message, lambda: _handlers[type(message)](session, message), RequestFailed))
