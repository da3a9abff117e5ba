"""The Debug Adapter Protocol types that agent, adapter and terminal exchange.

Made from the protocol's JSON schema by `make dap-structs`; https://microsoft.github.io/debug-adapter-protocol/specification.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field


class DapStruct(Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """Base of every DAP structure: defaults are left out, and names are camelCase on the wire."""


class Source(DapStruct):
    name: str | None = None
    path: str | None = None
    source_reference: int | None = None
    presentation_hint: Literal["normal", "emphasize", "deemphasize"] | None = None
    origin: str | None = None


class StackFrame(DapStruct):
    id: int
    name: str
    line: int
    column: int
    end_line: int | None = None
    end_column: int | None = None
    source: Source | None = None
    presentation_hint: Literal["normal", "label", "subtle"] | None = None
    instruction_pointer_reference: str | None = None
    can_restart: bool | None = None


class Scope(DapStruct):
    name: str
    variables_reference: int
    expensive: bool
    presentation_hint: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    source: Source | None = None


class VariablePresentationHint(DapStruct):
    kind: str | None = None
    attributes: list[str] | None = None
    lazy: bool | None = None


class Variable(DapStruct):
    name: str
    value: str
    variables_reference: int
    type: str | None = None
    evaluate_name: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    presentation_hint: VariablePresentationHint | None = None
    declaration_location_reference: int | None = None
    value_location_reference: int | None = None
    target_id: int | None = None
    menu_context: str | None = field(default=None, name="__vscodeVariableMenuContext")


class EvaluateResult(DapStruct):
    result: str
    variables_reference: int
    type: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    presentation_hint: VariablePresentationHint | None = None
    value_location_reference: int | None = None


class Breakpoint(DapStruct):
    id: int
    verified: bool
    line: int | None = None
    message: str | None = None
    source: Source | None = None
    instruction_reference: str | None = None
    reason: Literal["pending", "failed"] | None = None


class ClientBreakpoint(DapStruct):
    line: int
    column: int | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    mode: str | None = None


class SourceBreakpoint(ClientBreakpoint, kw_only=True):
    id: int


class ClientFunctionBreakpoint(DapStruct):
    name: str
    condition: str | None = None
    hit_condition: str | None = None


class FunctionBreakpoint(ClientFunctionBreakpoint, kw_only=True):
    id: int


class ClientInstructionBreakpoint(DapStruct):
    instruction_reference: str
    offset: int | None = None
    condition: str | None = None
    hit_condition: str | None = None


class InstructionBreakpoint(ClientInstructionBreakpoint, kw_only=True):
    id: int


DataAccess = Literal["read", "write", "readWrite"]


class ClientDataBreakpoint(DapStruct):
    data_id: str
    access_type: DataAccess | None = None
    condition: str | None = None
    hit_condition: str | None = None


class DataBreakpoint(ClientDataBreakpoint, kw_only=True):
    id: int


class DisassembledInstruction(DapStruct):
    address: str
    instruction: str
    symbol: str | None = None
    location: Source | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    presentation_hint: Literal["normal", "invalid"] | None = None


class DisassembleBody(DapStruct):
    instructions: list[DisassembledInstruction]


class StepInTarget(DapStruct):
    id: int
    label: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


class StepInTargetsBody(DapStruct):
    targets: list[StepInTarget]


class GotoTarget(DapStruct):
    id: int
    label: str
    line: int


class GotoTargetsBody(DapStruct):
    targets: list[GotoTarget]


class BreakpointLocation(DapStruct):
    line: int


class BreakpointLocationsBody(DapStruct):
    breakpoints: list[BreakpointLocation]


class DataBreakpointInfo(DapStruct):
    data_id: str | None
    description: str
    access_types: list[DataAccess] | None = None
    can_persist: bool | None = None


class SetExpressionBody(DapStruct):
    value: str
    type: str | None = None
    variables_reference: int | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None


class ScopesBody(DapStruct):
    scopes: list[Scope]


class VariablesBody(DapStruct):
    variables: list[Variable]


class SourceBody(DapStruct):
    content: str
    mime_type: str | None = None


class LoadedSourcesBody(DapStruct):
    sources: list[Source]


class Module(DapStruct):
    id: int | str
    name: str
    path: str | None = None
    is_optimized: bool = False
    is_user_code: bool = False
    symbol_status: str | None = None


class ModulesBody(DapStruct):
    modules: list[Module]


class LocationsBody(DapStruct):
    source: Source
    line: int


class StackTraceBody(DapStruct):
    stack_frames: list[StackFrame]
    total_frames: int | None = None


class BreakpointsBody(DapStruct):
    breakpoints: list[Breakpoint]


class Thread(DapStruct):
    id: int
    name: str


class ThreadsBody(DapStruct):
    threads: list[Thread]


class ExceptionDetails(DapStruct):
    message: str | None = None
    type_name: str | None = None
    full_type_name: str | None = None
    stack_trace: str | None = None
    inner_exception: list[ExceptionDetails] | None = None


class ExceptionInfo(DapStruct):
    exception_id: str
    break_mode: Literal["never", "always", "unhandled", "userUnhandled"]
    description: str | None = None
    details: ExceptionDetails | None = None


class Stopped(DapStruct):
    reason: str
    thread_id: int
    description: str | None = None
    text: str | None = None
    all_threads_stopped: bool = False
    hit_breakpoint_ids: list[int] | None = None


class ThreadChange(DapStruct):
    reason: str
    thread_id: int


class Output(DapStruct):
    output: str
    category: str | None = None


class Exited(DapStruct):
    exit_code: int


class BreakpointChange(DapStruct):
    reason: str
    breakpoint: Breakpoint


class ContinueBody(DapStruct):
    all_threads_continued: bool = True


class RunInTerminal(DapStruct):
    args: list[str]
    cwd: str
    env: dict[str, str | None] | None = None


class StartDebugging(DapStruct):
    configuration: dict[str, Any]


class ExceptionBreakpointsFilter(DapStruct):
    filter: str
    label: str
    description: str | None = None
    default: bool = False


class Capabilities(DapStruct):
    supports_exception_filter_options: bool = False
    exception_breakpoint_filters: list[ExceptionBreakpointsFilter] | None = None
