"""How a request handler declares itself: `@request("setBreakpoints", SetBreakpointsArguments)`,
`@capability("supports…")`.

`initialize` answers with the capabilities collected here, so what is advertised is what is served. A handler returns
the response's body, or ANSWERED. It raises RequestError for the user's eyes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dynascope.dap.protocol.call import Arguments, Body, Call
from dynascope.dap.session import Session
from dynascope.wire.dap import DapStruct

Phase = Literal["connected", "initialized", "running"]
"""The earliest a request makes sense: always; after `initialize`; once there is a program to debug."""

Function = Callable[[Session, Call[Arguments]], Awaitable[Body]]


class Handler(Struct, frozen=True):
    """A request that is served."""

    command: str
    arguments: type[DapStruct]
    phase: Phase
    ordered: bool
    """Ordered requests are served one after the other, as they came: a client need not wait between them."""
    function: Function[Any]
    cancellable: bool = False
    """A look: `cancel` ends it early, and one that takes long shows its progress."""


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
    """Advertise in `initialize` what the decorated handler serves."""

    def declare(function: Decorated) -> Decorated:
        CAPABILITIES[name] = value
        return function

    return declare


def read_arguments(handler: Handler, raw: Raw | UnsetType) -> DapStruct:
    """Type a request's arguments. Raises msgspec.ValidationError, which names the field."""
    if raw is UNSET or bytes(raw) == b"null":
        raw = Raw(b"{}")
    return msgspec.json.decode(raw, type=handler.arguments)
