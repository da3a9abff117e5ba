"""Expressions of breakpoints: conditions and log messages, evaluated on shadows where Dynamo traces the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import torch

from dynascope.agent.inspection.console import Console
from dynascope.agent.inspection.errors import EvaluationError
from dynascope.agent.inspection.names import Names

__all__ = ["EvaluationError", "condition_holds", "fill", "format_log_message"]

_PIECES = re.compile(r"\{\{|\}\}|\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")


Given = Mapping[str, Callable[[Any], Any]]
"""Names that a condition may use beside those of the frame: each is made from the evaluation's `Shadow`."""


def condition_holds(expression: str, translator: Any, given: Given | None = None) -> bool:
    """Whether a breakpoint's condition is true here; raises EvaluationError when it cannot be known at compile time."""
    value = Console(Names(translator), given).value(expression)
    try:
        with torch._C.DisableTorchFunction():
            return bool(value)
    except Exception as error:
        raise EvaluationError(
            f"The condition {expression!r} depends on data that is not known at compile time."
        ) from error


def format_log_message(template: str, translator: Any) -> str:
    """A DAP logMessage with its `{expressions}` filled in; one without a value shows why. `{{` is a brace."""
    names = Names(translator)
    console, look = Console(names), names.look()

    return fill(template, lambda expression: console.row(expression, "watch", look).value)


def fill(template: str, text_of: Callable[[str], str]) -> str:
    """A DAP logMessage with the text of each `{expression}`, or why `text_of` raised EvaluationError."""

    def piece(match: re.Match[str]) -> str:
        if match.group() in ("{{", "}}"):
            return match.group()[0]
        try:
            return text_of(match.group(1))
        except EvaluationError as error:
            return f"<{error}>"

    return _PIECES.sub(piece, template)
