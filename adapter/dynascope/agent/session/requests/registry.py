"""The registry of request handlers, to which decorators add them; `Agent.receive` finds and calls them.

`@serves` handlers run on the channel's thread and get the session; `@serves_at_stop` handlers run on the stopped thread
that the request is about and get the inspection of its stop. Both return the body of the reply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dynascope.agent.session.session import AgentSession
from dynascope.wire.messages import Message, StoppedThreadRequest

Handler = TypeVar("Handler", bound=Callable[[Any, Any], Any])
FindThread = Callable[[AgentSession, Any], int | None]
"""Returns the ident of the stopped thread that a request is about, or None."""

HANDLERS: dict[type[Message], Callable[[AgentSession, Any], Any]] = {}
AT_STOP: dict[type[Message], tuple[FindThread, Callable[[Any, Any], Any] | str]] = {}
"""How requests about a stopped thread find it, and their handler, or the method of the inspection that is one."""


def find_thread(session: AgentSession, request: StoppedThreadRequest) -> int:
    return request.thread_ident


class RequestFailed(Exception):
    """A request that cannot be served. The text is a message for the user."""


def serves(kind: type[Message]) -> Callable[[Handler], Handler]:
    """Register a handler of messages of this kind."""

    def register(handler: Handler) -> Handler:
        HANDLERS[kind] = handler
        return handler

    return register


def serves_at_stop(kind: type[Message], thread: FindThread = find_thread) -> Callable[[Handler], Handler]:
    """Register a handler of requests of this kind that are about a stopped thread."""

    def register(handler: Handler) -> Handler:
        AT_STOP[kind] = thread, handler
        return handler

    return register
