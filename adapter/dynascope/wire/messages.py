"""The base classes of the messages between agent and adapter: msgspec structs, tagged by `kind`.

They are in `to_agent` and `from_agent`. A *request* carries an `id` and gets exactly one `Reply` or `Failure` with the
same id. Everything else is a notice. The body of a reply is the body of the DAP response, passed on without decoding.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

StopReason = Literal[
    "breakpoint",
    "function breakpoint",
    "instruction breakpoint",
    "data breakpoint",
    "step",
    "pause",
    "entry",
    "exception",
    "restart",
    "goto",
]
Granularity = Literal["line", "instruction"]
Area = Literal["all", "stacks", "threads", "variables"]
"""DAP's InvalidatedAreas."""
ResumeCommand = Literal["continue", "next", "stepIn", "stepOut"]
TravelCommand = Literal["stepBack", "reverseContinue", "restartFrame", "goto"]


class Message(Struct, kw_only=True, omit_defaults=True, tag_field="kind", rename="camel"):
    """Base of all messages."""


class FromAgent(Message):
    """Base of the messages from an agent to the adapter."""


class ToAgent(Message):
    """Base of the messages from the adapter to an agent."""


class Request(ToAgent):
    """Base of the messages that get a reply; the connection that sends one numbers it."""

    id: int = 0


class StoppedThreadRequest(Request):
    """Base of the requests about a stopped thread, which serves them."""

    thread_ident: int = 0
