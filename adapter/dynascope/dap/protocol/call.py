"""One DAP request that is being served: its arguments, and the types of its response's body."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

from msgspec import Raw, UnsetType

from dynascope.wire.dap import DapStruct

Arguments = TypeVar("Arguments", bound=DapStruct)


class NoArguments(DapStruct):
    """The arguments of `threads`, `configurationDone` and others that need none."""


class Answered:
    """The type of ANSWERED."""


ANSWERED: Final = Answered()
"""Returned instead of a body: the response has been or will be sent by other code."""


class Call(Generic[Arguments]):
    """One request, with its typed arguments and the raw ones to pass on."""

    __slots__ = ("arguments", "command", "raw", "seq")

    def __init__(self, seq: int, command: str, arguments: Arguments, raw: Raw | UnsetType) -> None:
        self.seq = seq
        self.command = command
        self.arguments = arguments
        self.raw = raw


Body = DapStruct | dict[str, Any] | Raw | None | Answered
"""A response's body: a struct, a dict, raw JSON, or None for none."""
