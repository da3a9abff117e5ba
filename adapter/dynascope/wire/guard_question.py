"""Read what is asked about compiles in the debug console: `guards 0/1`, `guards check`, `forms 0/1`, `forms all`."""

from __future__ import annotations

import re
from typing import NamedTuple

_QUESTION = re.compile(r"\s*guards(?:\s+(check))?(?:\s+(\S*\d/\S*\d))?\s*")

_FORMS = re.compile(r"\s*forms\s+(all|from\s+.*\S|\S*\d/\S*\d(?:\s.*\S)?)\s*")


class GuardQuestion(NamedTuple):
    """Whether to evaluate guards or to measure them, and of which entry; "" for every one."""

    checks: bool
    compile_id: str


def guard_question(text: str) -> GuardQuestion | None:
    """Return what a line asks about guards; None for an expression, such as a variable `guards`."""
    match = _QUESTION.fullmatch(text)
    if match is None or not (match[1] or match[2]):
        return None
    return GuardQuestion(match[1] is not None, match[2] or "")


def forms_question(text: str) -> str | None:
    """Return what a line asks about the forms of a graph; None for an expression."""
    match = _FORMS.fullmatch(text)
    return None if match is None else match[1]
