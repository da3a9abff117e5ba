"""The Debug Adapter Protocol types that the agent fills in and the adapter passes on unchanged.

Field names are DAP's (camelCase on the wire); https://microsoft.github.io/debug-adapter-protocol/specification.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

FIRST_AGENT_ID = 1 << 30
"""The lowest frame id and variablesReference of an agent; debugpy's are small counters."""

FIRST_ENTRY_ID = 1 << 40
"""debugpy's lowest id of a breakpoint that the agent set in it; the last 20 bits are the adapter's id."""

HAS_STOPPED = "Stopped here: it stops again when Dynamo traces it again."
"""The message of a line breakpoint, from its first stop to the end of the compile."""


class DapStruct(Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """Base of every DAP structure: defaults are left out, and names are camelCase on the wire."""


class Source(DapStruct):
    """A file of the user, or a document made by the debugger (`source_reference` > 0)."""

    name: str | None = None
    path: str | None = None
    source_reference: int | None = None
    presentation_hint: Literal["normal", "emphasize", "deemphasize"] | None = None
    origin: str | None = None


class StackFrame(DapStruct):
    """One row of the call stack. Lines and columns count from 1; DAP wants both, so neither has a default."""

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
    """One heading of the Variables view."""

    name: str
    variables_reference: int
    expensive: bool
    presentation_hint: Literal["arguments", "locals", "registers", "returnValue"] | str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    source: Source | None = None
    """The document that shows the same as the scope, where there is one."""


class VariablePresentationHint(DapStruct):
    """How a client draws a variable: `kind` such as "property" or "virtual"; `attributes` such as "readOnly"."""

    kind: str | None = None
    attributes: list[str] | None = None
    visibility: str | None = None
    lazy: bool | None = None


class Variable(DapStruct):
    """One child of a scope or of another variable; `variables_reference` 0 means it has no children."""

    name: str
    value: str
    variables_reference: int
    type: str | None = None
    evaluate_name: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    presentation_hint: VariablePresentationHint | None = None
    declaration_location_reference: int | None = None
    """For `locations`: the line that created it (DAP 1.68)."""
    value_location_reference: int | None = None
    """For `locations`: the definition of the value, a function or an object's class (DAP 1.68)."""
    target_id: int | None = None
    """For `goto`, in the rows of a history: the line that the row is about."""
    menu_context: str | None = field(default=None, name="__vscodeVariableMenuContext")
    """The context by which VS Code chooses the entries of the row's menu."""


class EvaluateResult(DapStruct):
    """Body of an `evaluate` response."""

    result: str
    variables_reference: int
    type: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    presentation_hint: VariablePresentationHint | None = None
    value_location_reference: int | None = None


DOCUMENTS = "dynascope/"
"""The folder, which does not exist, in which clients see the documents of compiles."""


def document_path(name: str, extension: str) -> str:
    """Return the path of the document with this name."""
    return f"{DOCUMENTS}{name.replace('/', '-')}.{extension}"


def is_document(path: str | None) -> bool:
    """Whether a path of the client is that of a document: those of files are absolute."""
    return (path or "").startswith(DOCUMENTS)


class Breakpoint(DapStruct):
    """The state of a breakpoint: `verified` only if it can be hit; `message` says why not, or where it moved."""

    id: int
    verified: bool
    line: int | None = None
    message: str | None = None
    source: Source | None = None
    instruction_reference: str | None = None
    reason: Literal["pending", "failed"] | None = None


class SourceBreakpoint(DapStruct):
    """One line breakpoint as the client set it, plus the `id` the adapter gave it."""

    id: int
    line: int
    column: int | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    mode: str | None = None
    """`backward`: stop at the autograd nodes the line creates, as the backward is captured. None: where traced."""


class FunctionBreakpoint(DapStruct):
    """A breakpoint by function name (`LlamaAttention.forward`), plus the `id` the adapter gave it."""

    id: int
    name: str
    condition: str | None = None
    hit_condition: str | None = None


class InstructionBreakpoint(DapStruct):
    """A breakpoint at `instruction_reference` plus `offset` bytes, plus the `id` the adapter gave it."""

    id: int
    instruction_reference: str
    offset: int = 0
    condition: str | None = None
    hit_condition: str | None = None


DataAccess = Literal["read", "write", "readWrite"]
"""DAP's DataBreakpointAccessType."""


class DataBreakpoint(DapStruct):
    """A breakpoint on what the compiler decides about a value, plus the `id` the adapter gave it."""

    id: int
    data_id: str
    access_type: DataAccess | None = None
    condition: str | None = None
    hit_condition: str | None = None


class DisassembledInstruction(DapStruct):
    """One row of a listing; `location` is set on the first row and where it changes."""

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
    """A call that `stepIn` can step into."""

    id: int
    label: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


class StepInTargetsBody(DapStruct):
    targets: list[StepInTarget]


class GotoTarget(DapStruct):
    """A place that `goto` leads to."""

    id: int
    label: str
    line: int


FIRST_RECORDED = 1 << 28
"""More than any position of a trail: the first in an attempt that has ended."""


def goto_target_id(position: int) -> int:
    """Return the id of a `GotoTarget` at a position of a trail; debugpy's ids are smaller."""
    return FIRST_AGENT_ID + position


class GotoTargetsBody(DapStruct):
    targets: list[GotoTarget]


TimelineKind = Literal[
    "compile", "restart", "graph break", "specialization", "recompile", "compiled", "skipped", "failed", "stop"
]


class TimelineEvent(DapStruct):
    """One event of the compiler, or a compile-time stop."""

    number: int
    """Counts from 1 in each process."""
    seconds: float
    """The time since the program was started or attached to."""
    kind: TimelineKind
    text: str
    """A sentence for the user."""
    compile_id: str = ""
    """As Dynamo writes it: `0/1`, and `0/1_2` in attempt 2."""
    source: Source | None = None
    line: int | None = None
    thread_id: int | None = None
    target_id: int | None = None
    """For `goto`, if the event lies in the attempt that is stopped, or in one that was recorded."""


class TimelineBody(DapStruct):
    """The newest events, oldest first; `total`: how many there were in all."""

    events: list[TimelineEvent]
    total: int


class ComparedPlace(DapStruct):
    """A line in two compiles that are compared."""

    source: Source
    line: int


class CompareBody(DapStruct):
    """What differs between two compiles of a function: sentences, and both side by side in two columns."""

    left: str
    right: str
    function: str
    summary: list[str]
    columns: list[str]
    first: ComparedPlace | None = None
    """The line of the first difference."""
    left_next: ComparedPlace | None = None
    """The line at which the left compile goes on, if they go different ways there."""
    right_next: ComparedPlace | None = None


class BreakpointLocation(DapStruct):
    line: int


class BreakpointLocationsBody(DapStruct):
    breakpoints: list[BreakpointLocation]


class DataBreakpointInfo(DapStruct):
    """Body of a `dataBreakpointInfo` response; if `data_id` is None, `description` says why there can be none.

    DAP requires both, null or not, so neither has a default.
    """

    data_id: str | None
    description: str
    access_types: list[DataAccess] | None = None
    can_persist: bool | None = None


class SetExpressionBody(DapStruct):
    """Body of a `setExpression` response: the expression's new value."""

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
    """Body of a `source` response."""

    content: str
    mime_type: str | None = None


class LoadedSourcesBody(DapStruct):
    sources: list[Source]


class Module(DapStruct):
    """A Python file; `is_optimized` if Dynamo has traced code in it."""

    id: int | str
    name: str
    path: str = ""
    is_optimized: bool = False
    is_user_code: bool = False
    symbol_status: str | None = None


class ModulesBody(DapStruct):
    modules: list[Module]


class LocationsBody(DapStruct):
    """Body of a `locations` response (DAP 1.68)."""

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


class Parameter(DapStruct):
    """A parameter of a frame's function, for a `StackFrameFormat`; one that has no value has only a name."""

    name: str
    type: str | None = None
    """`f32[s0, 16]`, `MLP`, `int`."""
    value: str | None = None
    """None when `type` alone describes it."""


class FormattedStackBody(DapStruct):
    """Frames, and the parameters of each frame."""

    stack_frames: list[StackFrame]
    parameters: list[list[Parameter] | None]
    """None for a frame that does not belong to a function."""
