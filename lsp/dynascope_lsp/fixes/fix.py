"""A fix: what a code action is made of."""

from __future__ import annotations

from lsprotocol import types
from msgspec import Struct


class Fix(Struct, frozen=True):
    """`preferred`: the one to apply when asked to fix without a choice."""

    title: str
    edits: list[types.TextEdit]
    preferred: bool = False
