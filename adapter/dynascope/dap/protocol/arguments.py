"""The arguments of the requests that are served.

Made from the protocol's JSON schema by `make dap-structs`; https://microsoft.github.io/debug-adapter-protocol/specification.
"""

from __future__ import annotations

from typing import Literal

from dynascope.wire.dap import (
    ClientBreakpoint,
    ClientDataBreakpoint,
    ClientFunctionBreakpoint,
    ClientInstructionBreakpoint,
    DapStruct,
    Source,
)


class ValueFormat(DapStruct):
    hex: bool = False


class InitializeArguments(DapStruct):
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    path_format: str | None = None
    supports_run_in_terminal_request: bool = False
    supports_start_debugging_request: bool = False
    supports_progress_reporting: bool = False
    supports_invalidated_event: bool = False
    supports_variable_paging: bool = False


class DisconnectArguments(DapStruct):
    restart: bool = False
    terminate_debuggee: bool | None = None
    suspend_debuggee: bool = False


class TerminateArguments(DapStruct):
    restart: bool = False


class SetBreakpointsArguments(DapStruct):
    source: Source
    breakpoints: list[ClientBreakpoint] | None = None
    lines: list[int] | None = None


class SetFunctionBreakpointsArguments(DapStruct):
    breakpoints: list[ClientFunctionBreakpoint]


class SetInstructionBreakpointsArguments(DapStruct):
    breakpoints: list[ClientInstructionBreakpoint]


class BreakpointLocationsArguments(DapStruct):
    source: Source
    line: int
    end_line: int | None = None


class DisassembleArguments(DapStruct):
    memory_reference: str
    instruction_count: int
    offset: int | None = None
    instruction_offset: int | None = None


class DataBreakpointInfoArguments(DapStruct):
    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class SetDataBreakpointsArguments(DapStruct):
    breakpoints: list[ClientDataBreakpoint]


class ExceptionFilterOptions(DapStruct):
    filter_id: str
    condition: str | None = None


class ExceptionPathSegment(DapStruct):
    names: list[str]
    negate: bool = False


class ExceptionOptions(DapStruct):
    break_mode: Literal["never", "always", "unhandled", "userUnhandled"]
    path: list[ExceptionPathSegment] | None = None


class SetExceptionBreakpointsArguments(DapStruct):
    filters: list[str] | None = None
    filter_options: list[ExceptionFilterOptions] | None = None
    exception_options: list[ExceptionOptions] | None = None


class ThreadArguments(DapStruct):
    thread_id: int


class ResumeArguments(DapStruct):
    thread_id: int
    single_thread: bool = False


class StepArguments(DapStruct):
    thread_id: int
    single_thread: bool = False
    granularity: Literal["statement", "line", "instruction"] | None = None
    target_id: int | None = None


class StackFrameFormat(ValueFormat, kw_only=True):
    parameters: bool = False
    parameter_types: bool = False
    parameter_names: bool = False
    parameter_values: bool = False
    line: bool = False
    module: bool = False
    include_all: bool = False


class StackTraceArguments(DapStruct):
    thread_id: int
    start_frame: int | None = None
    levels: int | None = None
    format: StackFrameFormat | None = None


class FrameArguments(DapStruct):
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
    source_reference: int | None = None
    source: Source | None = None


class CancelArguments(DapStruct):
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


class ModulesArguments(DapStruct):
    start_module: int | None = None
    module_count: int | None = None
