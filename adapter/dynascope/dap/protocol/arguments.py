"""The arguments of the requests that are served, typed as in the DAP specification.

Fields that the adapter does not read are not listed: msgspec skips them, and forwarded requests keep theirs.
https://microsoft.github.io/debug-adapter-protocol/specification
"""

from __future__ import annotations

from typing import Literal

from msgspec import Raw, field

from dynascope.wire.dap import DapStruct, DataAccess, Source


class NoArguments(DapStruct):
    """The arguments of `threads`, `configurationDone` and others that need none."""


class ValueFormat(DapStruct):
    hex: bool = False


class InitializeArguments(DapStruct):
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    path_format: str = "path"
    supports_run_in_terminal_request: bool = False
    supports_start_debugging_request: bool = False
    supports_progress_reporting: bool = False
    supports_invalidated_event: bool = False
    supports_variable_paging: bool = False


class RestartArguments(DapStruct):
    """`arguments` is the current launch or attach configuration; None: the one before."""

    arguments: dict[str, Raw] | None = None


class DisconnectArguments(DapStruct):
    restart: bool = False
    terminate_debuggee: bool | None = None
    suspend_debuggee: bool = False


class TerminateArguments(DapStruct):
    restart: bool = False


class ClientBreakpoint(DapStruct):
    """One breakpoint of `setBreakpoints`, before it has an id."""

    line: int
    column: int | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    mode: str | None = None
    """One of the `breakpointModes` of `initialize`."""


class SetBreakpointsArguments(DapStruct):
    """`lines` is the deprecated form of `breakpoints`; some clients send only that."""

    source: Source
    breakpoints: list[ClientBreakpoint] | None = None
    lines: list[int] | None = None
    source_modified: bool = False


class ClientFunctionBreakpoint(DapStruct):
    name: str
    condition: str | None = None
    hit_condition: str | None = None


class SetFunctionBreakpointsArguments(DapStruct):
    breakpoints: list[ClientFunctionBreakpoint]


class ClientInstructionBreakpoint(DapStruct):
    """`instruction_reference` plus `offset` bytes is the address."""

    instruction_reference: str
    offset: int = 0
    condition: str | None = None
    hit_condition: str | None = None
    mode: str | None = None


class SetInstructionBreakpointsArguments(DapStruct):
    breakpoints: list[ClientInstructionBreakpoint]


class BreakpointLocationsArguments(DapStruct):
    """Without `end_line` the range is one line. Columns are not read: a breakpoint is on a whole line."""

    source: Source
    line: int
    end_line: int | None = None


class DisassembleArguments(DapStruct):
    """`offset` is in bytes, `instruction_offset` in instructions."""

    memory_reference: str
    instruction_count: int
    offset: int = 0
    instruction_offset: int = 0


class DataBreakpointInfoArguments(DapStruct):
    """`name` is a child of `variables_reference`, an expression at `frame_id`, or one that needs no frame."""

    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class ClientDataBreakpoint(DapStruct):
    data_id: str
    access_type: DataAccess | None = None
    condition: str | None = None
    hit_condition: str | None = None


class SetDataBreakpointsArguments(DapStruct):
    breakpoints: list[ClientDataBreakpoint]


class ExceptionFilterOptions(DapStruct):
    filter_id: str
    condition: str | None = None


class ExceptionPathSegment(DapStruct):
    names: list[str]
    negate: bool = False


class ExceptionOptions(DapStruct):
    """Options for debugpy, which ends the session when it cannot read them."""

    break_mode: Literal["never", "always", "unhandled", "userUnhandled"]
    path: list[ExceptionPathSegment] = field(default_factory=list)


class SetExceptionBreakpointsArguments(DapStruct):
    """A client that reads `supportsExceptionFilterOptions` names every filter in `filter_options`."""

    filters: list[str] = field(default_factory=list)
    filter_options: list[ExceptionFilterOptions] | None = None
    exception_options: list[ExceptionOptions] | None = None


class ThreadArguments(DapStruct):
    """The arguments of `pause` and `exceptionInfo`."""

    thread_id: int


class ResumeArguments(ThreadArguments):
    """The arguments of `continue`, and a part of those of steps."""

    single_thread: bool = False
    """Whether other stopped threads stay stopped."""


class StepArguments(ResumeArguments):
    """The arguments of `next`, `stepIn` and `stepOut`; only `stepIn` has a `target_id`, one of `stepInTargets`."""

    granularity: Literal["statement", "line", "instruction"] = "statement"
    target_id: int | None = None


class StackFrameFormat(DapStruct):
    """The parts of a frame's name, and (`include_all`) whether frames are shown that are left out otherwise.

    `parameters` without the others means names and types.
    """

    hex: bool = False
    parameters: bool = False
    parameter_types: bool = False
    parameter_names: bool = False
    parameter_values: bool = False
    line: bool = False
    module: bool = False
    include_all: bool = False


class StackTraceArguments(DapStruct):
    """`levels` 0 or None means all."""

    thread_id: int
    start_frame: int | None = None
    levels: int | None = None
    format: StackFrameFormat | None = None


class FrameArguments(DapStruct):
    """The arguments of `scopes`, `stepInTargets` and `restartFrame`."""

    frame_id: int


class VariablesArguments(DapStruct):
    variables_reference: int
    filter: Literal["indexed", "named"] | None = None
    start: int | None = None
    count: int | None = None
    format: ValueFormat | None = None


class EvaluateArguments(DapStruct):
    expression: str
    frame_id: int | None = None
    context: str | None = None
    format: ValueFormat | None = None


class CompletionsArguments(DapStruct):
    """`column` counts from 1, in UTF-16 code units, within `line` (default 1) of `text`."""

    text: str
    column: int
    line: int | None = None
    frame_id: int | None = None


class SetVariableArguments(DapStruct):
    variables_reference: int
    name: str
    value: str
    format: ValueFormat | None = None


class SetExpressionArguments(DapStruct):
    expression: str
    value: str
    frame_id: int | None = None
    format: ValueFormat | None = None


class SourceArguments(DapStruct):
    source_reference: int = 0
    source: Source | None = None


class CancelArguments(DapStruct):
    """`request_id` is the `seq` of a request; a client gives one id or both."""

    request_id: int | None = None
    progress_id: str | None = None


class LocationsArguments(DapStruct):
    location_reference: int


class GotoTargetsArguments(DapStruct):
    source: Source
    line: int


class GotoArguments(DapStruct):
    thread_id: int
    target_id: int


class TimelineArguments(DapStruct):
    """`count`: how many events at most, the newest."""

    count: int = 1_000


class CompareArguments(DapStruct):
    """Two compile ids, `0/0` and `0/1`; without them the newest recompile and the compile that it replaces."""

    left: str | None = None
    right: str | None = None


class ModulesArguments(DapStruct):
    start_module: int | None = None
    module_count: int | None = None


class Address(DapStruct):
    """The value of `connect` or `listen` in an attach configuration."""

    port: int
    host: str = "127.0.0.1"


class PathMapping(DapStruct):
    """`localRoot` on the client's machine is `remoteRoot` on the program's machine; "." means the same path."""

    local_root: str
    remote_root: str
