"""Offers for a finding: a fix is an edit, advice a text where no edit is sure to be right."""

from __future__ import annotations

from lsprotocol import types
from msgspec import Struct, field


class Fix(Struct, frozen=True):
    """An edit with a title; `preferred`: apply it if the user asks to fix without choosing."""

    title: str
    edits: list[types.TextEdit]
    preferred: bool = False
    elsewhere: dict[str, list[types.TextEdit]] = field(default_factory=dict)
    """Edits of other files, by path."""


class Advice(Struct, frozen=True):
    """A sentence or two: why there is no edit, and what to do."""

    text: str


class Refused(Exception):
    """A precondition of a fix does not hold; the text is the advice."""
