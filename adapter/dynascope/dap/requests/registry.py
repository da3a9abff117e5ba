"""Declare request handlers: `@request("setBreakpoints", SetBreakpointsArguments)`, `@capability("supports…")`.

`initialize` answers the capabilities collected here, so exactly what is served is advertised. A handler returns the
response's body, or ANSWERED. It raises RequestError with a message for the user.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dynascope.dap.protocol.call import Arguments, Body, Call
from dynascope.dap.session import DapSession
from dynascope.wire.dap import DapStruct

Phase = Literal["connected", "initialized", "running"]
"""The earliest phase in which a request is served: always; after `initialize`; once a program takes breakpoints."""

Function = Callable[[DapSession, Call[Arguments]], Awaitable[Body]]


class Handler(Struct, frozen=True):
    """A request that is served."""

    command: str
    arguments: type[DapStruct]
    phase: Phase
    ordered: bool
    """Ordered requests are served one at a time, in order: a client need not wait between them."""
    function: Function[Any]
    cancellable: bool = False
    """Whether `cancel` ends it early; a long one shows its progress."""


HANDLERS: dict[str, Handler] = {}
CAPABILITIES: dict[str, Any] = {}

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def request(
    command: str,
    arguments: type[Arguments],
    *,
    phase: Phase = "running",
    ordered: bool = False,
    cancellable: bool = False,
) -> Callable[[Function[Arguments]], Function[Arguments]]:
    """Serve the DAP request `command`."""

    def declare(function: Function[Arguments]) -> Function[Arguments]:
        HANDLERS[command] = Handler(command, arguments, phase, ordered, function, cancellable)
        return function

    return declare


def capability(name: str, value: object = True) -> Callable[[Decorated], Decorated]:
    """Advertise in `initialize` a capability that the decorated handler serves."""

    def declare(function: Decorated) -> Decorated:
        CAPABILITIES[name] = value
        return function

    return declare


def read_arguments(handler: Handler, raw: Raw | UnsetType) -> DapStruct:
    """Decode a request's arguments. Raises msgspec.ValidationError, which names the field."""
    if raw is UNSET or bytes(raw) == b"null":
        raw = Raw(b"{}")
    return msgspec.json.decode(raw, type=handler.arguments)
