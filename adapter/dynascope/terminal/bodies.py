"""The DAP bodies that the terminal reads and `wire.dap` does not have; fields that are not read are left out."""

from __future__ import annotations

from typing import Any

import msgspec

from dynascope.wire.dap import Breakpoint, DapStruct, Source


class Stop(DapStruct):
    """Body of a `stopped` event."""

    reason: str
    thread_id: int = 0
    description: str | None = None
    text: str | None = None
    all_threads_stopped: bool = False
    hit_breakpoint_ids: list[int] = msgspec.field(default_factory=list)


class ThreadNews(DapStruct):
    """Body of a `thread` event."""

    reason: str
    thread_id: int


class Output(DapStruct):
    """Body of an `output` event."""

    output: str
    category: str = "console"


class Continued(DapStruct):
    """Body of a `continue` response; those of steps are empty."""

    all_threads_continued: bool = True


class Exited(DapStruct):
    """Body of an `exited` event."""

    exit_code: int = 0


class BreakpointChange(DapStruct):
    """Body of a `breakpoint` event."""

    reason: str
    breakpoint: Breakpoint


class SetBreakpoint(DapStruct):
    """A breakpoint of a `setBreakpoints` response; DAP allows a missing `id`."""

    verified: bool
    id: int = -1
    line: int | None = None
    message: str | None = None
    source: Source | None = None
    instruction_reference: str | None = None


class SetBreakpointsBody(DapStruct):
    """Body of a `setBreakpoints` or `setFunctionBreakpoints` response."""

    breakpoints: list[SetBreakpoint] = msgspec.field(default_factory=list)


class RunInTerminal(DapStruct):
    """Arguments of a `runInTerminal` request; None unsets a variable."""

    args: list[str]
    cwd: str = ""
    env: dict[str, str | None] = msgspec.field(default_factory=dict)


class StartDebugging(DapStruct):
    """Arguments of a `startDebugging` request."""

    configuration: dict[str, Any]


class ExceptionFilter(DapStruct):
    """One of the adapter's exception filters."""

    filter: str
    label: str
    description: str | None = None
    default: bool = False


class Capabilities(DapStruct):
    """The adapter's capabilities that the terminal reads."""

    supports_function_breakpoints: bool = False
    supports_exception_filter_options: bool = False
    exception_breakpoint_filters: list[ExceptionFilter] = msgspec.field(default_factory=list)


class SourceBody(DapStruct):
    """Body of a `source` response."""

    content: str


class ExceptionInfoBody(DapStruct):
    """Body of an `exceptionInfo` response."""

    exception_id: str = "exception"
    description: str | None = None
