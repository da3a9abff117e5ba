"""Conditions and log messages of breakpoints, evaluated in the frame that Dynamo traces."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

from dynascope.agent.inspection.evaluation.console import Console
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.agent.program import this_process
from dynascope.agent.program.interruption import is_of_program
from dynascope.wire.breakpoint_texts import Expression, pieces

__all__ = ["EvaluationError", "condition_holds", "fill", "format_log_message"]

AddedNames = Mapping[str, Callable[[Any], Any]]
"""Names that a condition may use besides those of the frame, each created from the evaluation's `Shadow`."""


def condition_holds(expression: str, translator: Any, names: AddedNames | None = None) -> bool:
    """Whether a condition is true. Raises EvaluationError if unknown at compile time.

    `rank` is this process's where the frame has no such name.
    """
    try:
        return _holds(expression, translator, names)
    except EvaluationError as error:
        rank = this_process.rank()
        if rank is None or "name 'rank' is not defined" not in str(error):
            raise
        return _holds(expression, translator, {**(names or {}), "rank": lambda shadow: rank})


def _holds(expression: str, translator: Any, names: AddedNames | None) -> bool:
    with contextlib.closing(Console(Names(translator), names)) as console:
        return _is_true(expression, console.value(expression))


def _is_true(expression: str, value: Any) -> bool:
    try:
        with torch._C.DisableTorchFunction():
            return bool(value)
    except Exception as error:
        if is_of_program(error):
            raise
        raise EvaluationError(
            f"The condition {expression!r} depends on data that is not known at compile time."
        ) from error


def format_log_message(template: str, translator: Any) -> str:
    """Fill in the `{expressions}` of a DAP logMessage, or why one has no value. `{{` is `{`."""
    names = Names(translator)
    options = names.options()
    with contextlib.closing(Console(names)) as console:
        return fill(template, lambda expression: console.row(expression, "watch", options).value, console.value)


def fill(template: str, text_of: Callable[[str], str], value_of: Callable[[str], Any]) -> str:
    """Return a DAP logMessage with each `{expression}` filled in, or why it has no value.

    Conversions and formats (`{n!s:>8}`, `{n:03d}`) are those of f-strings; the text of a value is that of the views.
    """

    def filled(expression: Expression) -> str:
        if expression.is_plain:
            return text_of(expression.text)
        how = fill(expression.format, lambda nested: str(value_of(nested)), value_of)
        if not expression.conversion:
            if is_tensor(value_of(expression.text)):
                raise EvaluationError("A format wants the data of this tensor, which is not known at compile time.")
            return str(value_of(f"format(({expression.text}\n), {how!r})"))
        text = text_of(expression.text)
        if expression.conversion == "s" and type(value := value_of(expression.text)) is str:
            text = value
        return _formatted(ascii(text)[1:-1] if expression.conversion == "a" else text, how)

    def shown(piece: str | Expression) -> str:
        if isinstance(piece, str):
            return piece
        try:
            return filled(piece)
        except EvaluationError as error:
            return f"<{error}>"

    return "".join(map(shown, pieces(template)))


def _formatted(text: str, how: str) -> str:
    try:
        return format(text, how)
    except ValueError as error:
        raise EvaluationError(f"ValueError: {error}") from error
