"""Offers for a finding: a fix is an edit, advice a text where no edit is sure to be right."""

from __future__ import annotations

import ast
from collections.abc import Callable

from lsprotocol import types
from msgspec import Struct, field, structs

from dynascope_lsp.documents.edits import inserted_after_imports
from dynascope_lsp.documents.text import Text
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot


class Fix(Struct, frozen=True):
    """An edit with a title; `preferred`: apply it if the user asks to fix without choosing."""

    title: str
    edits: list[types.TextEdit]
    preferred: bool = False
    elsewhere: dict[str, list[types.TextEdit]] = field(default_factory=dict)
    """Edits of other files, by path."""
    is_proven: bool = True
    """Whether the program is known to print the same with it; else it is offered when a trial has shown that."""


class Advice(Struct, frozen=True):
    """A sentence or two: why there is no edit, and what to do."""

    text: str


class Refused(Exception):
    """A precondition of a fix does not hold; the text is the advice."""

    def __init__(self, text: str, to_try: Fix | None = None) -> None:
        """Take the advice, and a fix of which a trial may show that it helps all the same."""
        super().__init__(text)
        self.to_try = to_try


def with_trial(problem: Refused, snapshot: Snapshot, finding: Finding, option: str, title: str = "Set {}") -> Refused:
    """Return why no fix is proven, with a setting that can be tried."""
    if finding.predicted or finding.stale:
        return problem
    try:
        return Refused(str(problem), structs.replace(setting(snapshot.text, option, title), is_proven=False))
    except Refused:
        return problem


def setting(text: Text, option: str, title: str = "Set {}") -> Fix:
    """Add `torch._dynamo.config.OPTION`. Raises Refused if the file already mentions it."""
    name = option.partition(" ")[0].partition(".")[0]
    if _is_named(text, name):
        raise Refused(f"This file says something about `{name}` already: see whether it is so when the function runs.")
    line = f"torch._dynamo.config.{option}"
    return Fix(title.format(line), [inserted_after_imports(text, line, names_torch=True)])


def _is_named(text: Text, name: str) -> bool:
    """Whether the code of a file names an option; comments do not count."""
    for node in ast.walk(text.tree) if text.tree is not None else ():
        match node:
            case ast.Attribute(attr=found) | ast.keyword(arg=str(found)) | ast.Constant(value=str(found)):
                if found == name:
                    return True
    return text.tree is None and name in text.source


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
