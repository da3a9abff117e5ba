"""Read the question `why` of the debug console: why the function that is traced is compiled again."""

from __future__ import annotations

import re

WHY = "why?"
"""The question as no program can mean it."""

_QUESTION = re.compile(r"\s*why\s*(\?)?\s*")


def asks_why(text: str, is_name: bool = False) -> bool:
    """Whether a line is the question; where `why` `is_name`, it needs its question mark."""
    match = _QUESTION.fullmatch(text)
    return match is not None and (match[1] is not None or not is_name)
