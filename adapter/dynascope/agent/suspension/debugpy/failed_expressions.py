"""Have pydevd keep no frames of expressions that fail at run time: logpoints, conditions, the console, watches.

It keeps the exception of a logpoint in a variable of the function that the traceback begins with, which is a cycle, and
that of a console's expression until the program resumes.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from dynascope.agent.isolation.failed_expressions import DispatchKeys, freed_on_failure


def logged_in(field: str) -> Callable[[Any, Any, types.FrameType], None]:
    """Return what writes a logpoint's value or exception into a field of the thread's state."""

    def log(breakpoint: Any, info: Any, frame: types.FrameType) -> None:
        try:
            with freed_on_failure():
                value = eval(breakpoint.expression, frame.f_globals, frame.f_locals)
                text = None if value is None else str(value)
        except BaseException as error:
            text = str(error)
        if text is not None:
            setattr(info, field, text)

    return log


def freeing(evaluation: Any) -> Callable[..., Any]:
    """Wrap what evaluates for a client in the module `evaluation`."""
    evaluate, failure = evaluation.evaluate_expression, evaluation.ExceptionOnEvaluate

    @functools.wraps(evaluate)
    def evaluate_expression(*arguments: Any, **named: Any) -> Any:
        keys = DispatchKeys()
        with freed_on_failure():
            result = evaluate(*arguments, **named)
        if type(result) is failure:
            keys.after_failure(result.tb)
        return result

    return evaluate_expression
