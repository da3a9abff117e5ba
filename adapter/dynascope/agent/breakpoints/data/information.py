"""What a row of the Variables view, or an expression, could be watched for: the answer to `dataBreakpointInfo`."""

from __future__ import annotations

from dynascope.agent.breakpoints.data import data_id
from dynascope.agent.breakpoints.data.data_id import DataId
from dynascope.agent.breakpoints.data.info import ACCESS, ALL, offer, refusal
from dynascope.agent.breakpoints.data.watched_value import of_row
from dynascope.agent.inspection.values.rows import Datum, Look, Row
from dynascope.agent.internals.frames import resume
from dynascope.agent.internals.frames.translators import Translator, active_translators, code_of, output_of
from dynascope.agent.internals.guards.events import as_written
from dynascope.agent.internals.symbolic_shapes.shapes import symbols_so_far
from dynascope.agent.internals.variables.contents import Constant, NestedFunction, Parts, Real, Unset
from dynascope.agent.internals.variables.variables import source_of
from dynascope.agent.program.user_code import real_path
from dynascope.wire.dap import DataBreakpointInfo

RUNNING = "Data breakpoints are on what the compiler decides: select a variable of a compile-time frame."
_NOTHING = "{0} cannot be watched: it is neither a variable nor a part of one that an expression leads to."


def of_row_at(row: Row, frame: Translator, look: Look) -> DataBreakpointInfo:
    """A row of a symbolic frame's scopes."""
    outermost = active_translators(frame)[0]
    if isinstance(row.subject, Datum):
        on = DataId(row.subject.kind, *_place(outermost), as_written(row.subject.name))
        return offer(on, ACCESS[on.kind], can_persist=on.what != row.name or on.kind == "source")
    if row.path is None or data_id.access_path(row.path) is None:
        return refusal(_NOTHING.format(row.name))
    _, held = of_row(row, look)
    if isinstance(held, (Unset, Parts, NestedFunction)):
        return offer(DataId("local", *_place(frame), row.path), ["write"])
    if isinstance(held, (Constant, Real)) and not (row.subject is not None and source_of(row.subject)):
        return offer(DataId("local", *_place(frame), row.path), ["write"])  # nothing guards what was made while tracing
    return offer(DataId("local", *_place(frame), row.path), ALL)


def of_expression(name: str, frame: Translator, is_known: bool) -> DataBreakpointInfo:
    """What a user typed at a frame; `is_known`: it leads to a value there. Raises ValueError with a sentence."""
    on = data_id.of_name(name)
    if is_known:
        return offer(DataId("local", *_place(frame), name.strip()), ALL)
    if on.function == data_id.ANYWHERE:
        place = _place(frame) if on.kind == "local" else _place(active_translators(frame)[0])
        on = DataId(on.kind, *place, _lasting(on, frame))
    return offer(on, ACCESS[on.kind], can_persist=not data_id.is_of_one_compile(on))


def _lasting(on: DataId, frame: Translator) -> str:
    """A symbol by its source: its number is another in every compile. Raises ValueError for an unknown one."""
    if on.kind != "symbol":
        return on.what
    symbol = next((each for each in symbols_so_far(output_of(frame)) if each.name == on.what), None)
    if symbol is None:
        raise ValueError(f"There is no symbol {on.what} in this compile so far: Shapes lists them.")
    return as_written(symbol.sources[0]) if symbol.sources else on.what


def _place(frame: Translator) -> tuple[str, str]:
    code = resume.original_code(code_of(frame))
    return real_path(code.co_filename), code.co_qualname
