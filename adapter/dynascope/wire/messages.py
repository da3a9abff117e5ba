"""What the messages between agent and adapter are made of: one msgspec struct each, told apart by `kind`.

They are in `to_agent` and `from_agent`. A *request* carries an `id` and gets exactly one `Reply` or `Failure` with the
same id. Everything else is a notice. The body of a reply is the body of the DAP response, ready to be passed on unread.
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
]
Granularity = Literal["line", "instruction"]
Area = Literal["all", "stacks", "threads", "variables"]
"""What an `invalidated` event is about."""
ResumeCommand = Literal["continue", "next", "stepIn", "stepOut"]


class Message(Struct, kw_only=True, omit_defaults=True, tag_field="kind", rename="camel"):
    """Base of all messages."""


class Request(Message):
    """Base of those that are answered."""

    id: int


class StoppedThreadRequest(Request):
    """Base of those that are answered on the thread that they are about, while it is stopped."""

    thread_ident: int
