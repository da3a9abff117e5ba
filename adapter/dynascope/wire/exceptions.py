"""Exceptions as DAP has them: the filters a client switches on, and what `exceptionInfo` answers."""

from __future__ import annotations

from typing import Literal

from dynascope.wire.dap import DapStruct

FilterId = Literal[
    "graphBreak", "recompile", "recompileLimit", "specialization", "backendFailure", "skippedFrame", "codegen"
]
"""The agent's own filters; every other is debugpy's."""


class ExceptionFilter(DapStruct):
    """A filter that is on, with the `id` of its breakpoint; None for `condition`: at every one."""

    id: int
    filter_id: FilterId
    condition: str | None = None


class ExceptionDetails(DapStruct):
    """`stack_trace` is text, outermost frame first; `inner_exception` is what led to this one."""

    message: str
    type_name: str
    full_type_name: str
    stack_trace: str | None = None
    inner_exception: list[ExceptionDetails] | None = None


class ExceptionInfo(DapStruct):
    """Body of an `exceptionInfo` response. `exception_id` is Dynamo's registry id where it has one: `GB0059`."""

    exception_id: str
    break_mode: Literal["never", "always", "unhandled", "userUnhandled"]
    description: str
    details: ExceptionDetails | None = None
