"""Read what is asked about compiles in the debug console: `guards 0/1`, `guards check`, `forms 0/1`, `forms all`."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast

_QUESTION = re.compile(r"\s*guards(?:\s+(check|filters)(?![\w/]))?(?:\s+(\S*\d/\S*\d))?(?:\s+([^\W\d]\w*))?\s*")

_FORMS = re.compile(r"\s*forms\s+(all|from\s+.*\S|\S*\d/\S*\d(?:\s.*\S)?)\s*")


class GuardQuestion(NamedTuple):
    """What is asked about guards, of which entry ("" for every one), and about which filter of guards ("" for all)."""

    asked: Literal["costs", "check", "filters"]
    compile_id: str
    filter: str = ""


def guard_question(text: str) -> GuardQuestion | None:
    """Return what a line asks about guards; None for an expression, such as a variable `guards`."""
    match = _QUESTION.fullmatch(text)
    if match is None or not (match[1] or match[2]) or (match[3] and match[1] != "filters"):
        return None
    asked = cast("Literal['costs', 'check', 'filters']", match[1] or "costs")
    return GuardQuestion(asked, match[2] or "", match[3] or "")


def forms_question(text: str) -> str | None:
    """Return what a line asks about the forms of a graph; None for an expression."""
    match = _FORMS.fullmatch(text)
    return None if match is None else match[1]
