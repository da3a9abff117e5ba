"""Build a frame's comptime context: `ctx` in the debug console and in `dynascope.comptime`."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from typing import Any

from dynascope.agent.inspection.evaluation.shadow import Shadow
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.expression_paths import row_at
from dynascope.agent.inspection.values.history_rows import history_lines
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.internals.variables.debug_repr import DebugRepr
from dynascope.agent.isolation.comptime_context import ComptimeContext, Reads
from dynascope.agent.isolation.isolation import isolated

_NOT_RECORDED = (
    "No history of this compile was recorded: nothing could stop in it when it began. Go back once (Restart Frame, or "
    "`rframe` at the prompt), and it is; unless `history` is false in the launch configuration."
)


def context_of(
    names: Names,
    shadow: Shadow,
    refuse: Callable[[str], Exception],
    act: Callable[[str], contextlib.AbstractContextManager[None]],
    is_console: bool = False,
) -> ComptimeContext:
    """Return a frame's context. `refuse` creates the exception for values that cannot be read.

    `act` is entered, with the name of the method, around each change of the compile. In a console a graph break takes
    effect when the program resumes.
    """

    def value(variable: object) -> Any:
        try:
            with isolated(shadow.mode):
                return shadow.of_variable(variable)
        except EvaluationError as error:
            raise refuse(str(error)) from error

    def of_real(real: Any) -> Any:
        with isolated(shadow.mode):
            return shadow.of_real(real)

    def history(expression: str) -> list[str]:
        if names.history is None:
            raise refuse(_NOT_RECORDED)
        row = row_at(ast.parse(expression, mode="eval").body, names, names.options())
        if row is None:
            raise refuse(f"{expression} is no name, attribute or element here: only these have a history.")
        return history_lines(row, names.options())

    debug_repr = DebugRepr(names.effects, of_real)
    reads = Reads(debug_repr.of_variable, debug_repr.of_real, value, refuse, names.effects, act, history, is_console)
    return ComptimeContext(names.translator, reads)
