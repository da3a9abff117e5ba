"""`dataBreakpointInfo` at a stop: how a row of the Variables view can be watched."""

from __future__ import annotations

from typing import Any

import msgspec
import torch

from dynascope.agent.breakpoints.data import data_id, watched_value
from dynascope.agent.breakpoints.data.data_id import ACCESS, ALL, DataId, offer, refusal
from dynascope.agent.breakpoints.data.watched_value import of_row
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Datum, Row, ViewOptions
from dynascope.agent.internals.frames import resume
from dynascope.agent.internals.frames.translators import (
    Translator,
    active_translators,
    code_of,
    is_translator,
    output_of,
)
from dynascope.agent.internals.guards.guards import as_written
from dynascope.agent.internals.symbolic_shapes.shapes import symbols_so_far
from dynascope.agent.internals.variables.held import Constant, NestedFunction, Parts, Real, Unset
from dynascope.agent.internals.variables.variables import source_of
from dynascope.agent.program.user_code import real_path
from dynascope.wire.dap import DataBreakpointInfo

RUNNING = "Data breakpoints are on what the compiler decides: select a variable of a compile-time frame."
_NOTHING = "{0} cannot be watched: it is neither a variable nor a part of one that an expression leads to."
_OF_THE_CONSOLE = "{} is a name of the debug console: nothing in the program changes or reads it."

_NONE_YET = ": there is none yet, it stops when it is set"


def of_child(children: Children, scope: Names | None, name: str) -> DataBreakpointInfo:
    """Answer for the row called `name`; `scope` is None for a frame of the running program."""
    if scope is None:
        return refusal(RUNNING)
    options = scope.options()
    with torch._C.DisableTorchFunction():
        rows = children.all_rows()
        row = next((each for each in rows.make(options, 0, rows.count) if each.name == name), None)
        if row is None:
            raise EvaluationError(f"There is no {name} among these variables.")
        if row.is_settable:
            return refusal(_OF_THE_CONSOLE.format(name))
        return _of_row(row, scope.translator, options)


def of_expression(name: str, frame: Any) -> DataBreakpointInfo:
    """Answer for an expression typed at a frame; in the running program nothing can be watched.

    A name that the frame does not have is searched in its callers.
    """
    if not is_translator(frame):
        return refusal(RUNNING)
    try:
        on = data_id.of_name(name)
        if data_id.access_path(name) is not None:
            callers = active_translators(frame)
            at = next(i for i, caller in enumerate(callers) if caller is frame)
            for caller in callers[at::-1]:
                if watched_value.find(caller, name) is not None or (on.kind == "local" and _will_have(caller, name)):
                    return offer(DataId("local", *_place(caller), name.strip()), ALL)
            for caller in callers[at::-1]:
                if on.kind == "local" and watched_value.may_be_set(caller, name):
                    answer = offer(DataId("local", *_place(caller), name.strip()), ALL)
                    return msgspec.structs.replace(answer, description=f"{answer.description}{_NONE_YET}")
        if on.kind == "local" and on.function == data_id.ANYWHERE:
            function = resume.original_code(code_of(frame)).co_qualname
            return refusal(f"There is no {name} in {function}, or in what called it.")
        return _of_expression(on, frame)
    except ValueError as error:
        return refusal(str(error))


def _will_have(frame: Translator, name: str) -> bool:
    """Whether the function assigns to this name, which has no value yet."""
    code = resume.original_code(code_of(frame))
    return name.strip() in (*code.co_varnames, *code.co_cellvars)


def _of_row(row: Row, frame: Translator, options: ViewOptions) -> DataBreakpointInfo:
    outermost = active_translators(frame)[0]
    if isinstance(row.subject, Datum):
        on = DataId(row.subject.kind, *_place(outermost), as_written(row.subject.name))
        return offer(on, ACCESS[on.kind], can_persist=on.what != row.name or on.kind == "source")
    if row.path is None or data_id.access_path(row.path) is None:
        return refusal(_NOTHING.format(row.name))
    _, content = of_row(row, options)
    if isinstance(content, (Unset, Parts, NestedFunction)):
        return offer(DataId("local", *_place(frame), row.path), ["write"])
    if isinstance(content, (Constant, Real)) and not (row.subject is not None and source_of(row.subject)):
        return offer(DataId("local", *_place(frame), row.path), ["write"])  # values created in the trace have no guards
    return offer(DataId("local", *_place(frame), row.path), ALL)


def _of_expression(on: DataId, frame: Translator) -> DataBreakpointInfo:
    """Answer for an expression without a value in the frame. Raises ValueError."""
    if on.function == data_id.ANYWHERE:
        place = _place(frame) if on.kind == "local" else _place(active_translators(frame)[0])
        on = DataId(on.kind, *place, _lasting(on, frame))
    return offer(on, ACCESS[on.kind], can_persist=not data_id.is_of_one_compile(on))


def _lasting(on: DataId, frame: Translator) -> str:
    """Return the source of a symbol, as its number changes. Raises ValueError if unknown."""
    if on.kind != "symbol":
        return on.what
    symbol = next((fact for fact in symbols_so_far(output_of(frame)) if fact.name == on.what), None)
    if symbol is None:
        raise ValueError(f"There is no symbol {on.what} in this compile so far: Shapes lists them.")
    return as_written(symbol.sources[0]) if symbol.sources else on.what


def _place(frame: Translator) -> tuple[str, str]:
    code = resume.original_code(code_of(frame))
    return real_path(code.co_filename), code.co_qualname
