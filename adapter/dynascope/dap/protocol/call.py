"""Define one DAP request that is served: its arguments, the types of its response's body, and its errors."""

from __future__ import annotations

import os
from typing import Any, Final, Generic, TypeVar

from msgspec import Raw, Struct, UnsetType

from dynascope.wire.dap import DapStruct


class RequestError(Exception):
    """A request cannot be served; the text is the error response's message, a sentence for the user."""


class TransportError(Exception):
    """The byte stream is not DAP, and nothing after this point can be read. The text says why, for the log."""


def cause(error: OSError) -> str:
    """Return the operating system's message, without numbers and addresses."""
    return os.strerror(error.errno) if error.errno else str(error)


Arguments = TypeVar("Arguments", bound=DapStruct)


class NoArguments(DapStruct):
    """The arguments of `threads`, `configurationDone` and others that need none."""


class Answered:
    """The type of ANSWERED."""


ANSWERED: Final = Answered()
"""Returned instead of a body: the response has been or will be sent by other code."""


class Call(Struct, Generic[Arguments]):
    """One request, with its typed arguments and the raw ones to pass on."""

    seq: int
    command: str
    arguments: Arguments
    raw: Raw | UnsetType


Body = DapStruct | dict[str, Any] | Raw | None | Answered
"""A response's body: a struct, a dict, raw JSON, or None for none."""
