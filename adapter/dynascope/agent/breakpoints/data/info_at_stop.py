"""`dataBreakpointInfo` at a stop: finds the row that was right-clicked, or the frame an expression was typed at."""

from __future__ import annotations

from typing import Any

import msgspec
import torch

from dynascope.agent.breakpoints.data import data_id, information
from dynascope.agent.breakpoints.data import info as names
from dynascope.agent.breakpoints.data import watched_value as subject
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import PAGE_LIMIT, Below, Look, Row
from dynascope.agent.internals.frames import resume
from dynascope.agent.internals.frames.translators import Translator, active_translators, code_of, is_translator
from dynascope.wire.dap import DataBreakpointInfo

_OF_THE_CONSOLE = "{} is a name of the debug console: nothing in the program changes or reads it."

_NONE_YET = ": there is none yet, it stops when it is set"


def of_child(below: Below, scope: Names | None, name: str) -> DataBreakpointInfo:
    """The row called `name` among these; `scope` is None for a frame of the running program."""
    if scope is None:
        return names.refusal(information.RUNNING)
    look = scope.look()
    with torch._C.DisableTorchFunction():
        row = _row_called(below, name, look)
        if row is None:
            raise EvaluationError(f"There is no {name} among these variables.")
        if row.is_settable:
            return names.refusal(_OF_THE_CONSOLE.format(name))
        return information.of_row_at(row, scope.translator, look)


def of_expression(name: str, frame: Any) -> DataBreakpointInfo:
    """What was typed at a frame; a `frame` of the running program has nothing to watch.

    A name that the frame does not have is looked for in its callers.
    """
    if not is_translator(frame):
        return names.refusal(information.RUNNING)
    try:
        on = data_id.of_name(name)
        if data_id.access_path(name) is not None:
            callers = active_translators(frame)
            at = next(i for i, each in enumerate(callers) if each is frame)
            for each in callers[at::-1]:
                if subject.find(each, name) is not None or (on.kind == "local" and _will_have(each, name)):
                    return information.of_expression(name, each, is_known=True)
            for each in callers[at::-1]:
                if on.kind == "local" and subject.may_be_set(each, name):
                    found = information.of_expression(name, each, is_known=True)
                    return msgspec.structs.replace(found, description=f"{found.description}{_NONE_YET}")
        if on.kind == "local" and on.function == data_id.ANYWHERE:
            function = resume.original_code(code_of(frame)).co_qualname
            return names.refusal(f"There is no {name} in {function}, or in what called it.")
        return information.of_expression(name, frame, is_known=False)
    except ValueError as error:
        return names.refusal(str(error))


def _will_have(frame: Translator, name: str) -> bool:
    """Whether the function assigns to this name, which has no value yet."""
    code = resume.original_code(code_of(frame))
    return name.strip() in (*code.co_varnames, *code.co_cellvars)


def _row_called(below: Below, name: str, look: Look) -> Row | None:
    start = 0
    while page := list(below.page(look, None, start, PAGE_LIMIT)):
        for row in page:
            if row.name == name:
                return row
        start += PAGE_LIMIT
    return None
