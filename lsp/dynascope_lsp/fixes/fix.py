"""Offers for a finding: a fix is an edit, advice a text where no edit is sure to be right."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types
from msgspec import Struct, field

from dynascope_lsp.documents.edits import inserted_after_imports
from dynascope_lsp.documents.text import Text


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


def setting(text: Text, option: str, title: str = "Set {}") -> Fix:
    """Add `torch._dynamo.config.OPTION`. Raises Refused if the file already mentions it."""
    name = option.partition(" ")[0].partition(".")[0]
    if name in text.source:
        raise Refused(f"This file says something about `{name}` already: see whether it is so when the function runs.")
    line = f"torch._dynamo.config.{option}"
    return Fix(title.format(line), [inserted_after_imports(text, line, names_torch=True)])


def alternatives(*offers: Callable[[], Fix], told: int) -> list[Fix]:
    """Return the possible fixes. Raises Refused if there is none, as the offer at `told` does."""
    found: list[Fix] = []
    problems: list[Refused] = []
    for offer in offers:
        try:
            found.append(offer())
        except Refused as problem:
            problems.append(problem)
    if not found:
        raise problems[told]
    return found
