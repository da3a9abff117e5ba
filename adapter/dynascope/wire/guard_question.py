"""Read what is asked about compiles in the debug console: `guards 0/1`, `guards check`, `forms 0/1`, `forms all`."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast

_QUESTION = re.compile(r"\s*guards(?:\s+(check|filters|saved)(?![\w/]))?(?:\s+(\S*\d/\S*\d))?(?:\s+([^\W\d]\w*))?\s*")

_FORMS = re.compile(r"\s*forms\s+(all|from\s+.*\S|\S*\d/\S*\d(?:\s.*\S)?)\s*")


class GuardQuestion(NamedTuple):
    """What is asked about guards, and of which entry ("" for every one)."""

    asked: Literal["costs", "check", "filters", "saved", "all"]
    compile_id: str
    name: str = ""
    """The filter of guards, or the way to save them; "" for all."""


def guard_question(text: str) -> GuardQuestion | None:
    """Return what a line asks about guards; None for an expression, such as a variable `guards`."""
    match = _QUESTION.fullmatch(text)
    if match is None or not (match[1] or match[2]):
        return None
    if match[1] is None and match[3] == "all":
        return GuardQuestion("all", match[2])
    if match[3] and match[1] not in ("filters", "saved"):
        return None
    asked = cast("Literal['costs', 'check', 'filters', 'saved']", match[1] or "costs")
    return GuardQuestion(asked, match[2] or "", match[3] or "")


def forms_question(text: str) -> str | None:
    """Return what a line asks about the forms of a graph; None for an expression."""
    match = _FORMS.fullmatch(text)
    return None if match is None else match[1]
