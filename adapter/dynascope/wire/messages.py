"""Every message between agent and adapter, one msgspec struct each, told apart by `kind`.

A *request* carries an `id` and gets exactly one `Reply` or `Failure` with the same id. Everything else is a notice.
The body of a reply is the body of the DAP response, ready to be passed on unread.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from dynascope.wire.dap import (
    FIRST_AGENT_ID,
    Breakpoint,
    DataBreakpoint,
    FunctionBreakpoint,
    InstructionBreakpoint,
    Source,
    SourceBreakpoint,
    StackFrame,
)
from dynascope.wire.exceptions import ExceptionFilter, ExceptionInfo

StopReason = Literal[
    "breakpoint",
    "function breakpoint",
    "instruction breakpoint",
    "data breakpoint",
    "step",
    "pause",
    "entry",
    "exception",
]
Granularity = Literal["line", "instruction"]
Area = Literal["all", "stacks", "threads", "variables"]
"""What an `invalidated` event is about."""
ResumeCommand = Literal["continue", "next", "stepIn", "stepOut"]


class Message(Struct, kw_only=True, omit_defaults=True, tag_field="kind", rename="camel"):
    """Base of all messages."""


class Request(Message):
    """Base of those that are answered."""

    id: int


# ---- agent → adapter


class Hello(Message, tag="hello"):
    """First message of an agent: who it is, and where its stopped threads wait."""

    pid: int
    parent_pid: int
    executable: str
    python_version: str
    suspension: Literal["pydevd", "own loop"]
    suspension_reason: str | None = None
    """Why not inside pydevd, when debugpy is there and failed the self-test."""


class DynamoReady(Message, tag="dynamoReady"):
    """torch._dynamo is imported. `missing` names what this torch lacks; if it is empty the hooks are in."""

    torch_version: str
    missing: list[str] = []


class Stopping(Message, tag="stopping"):
    """A thread is about to wait at a compile-time stop. The agent goes on only after `Acknowledge`.

    `frames` is innermost first: the first `symbolic_frames` are Dynamo's; with `own_loop` those of the running program
    follow, served by the agent too. Without `own_loop`, debugpy reports the stop and owns the frames below.
    """

    thread_ident: int
    thread_id: int
    thread_name: str
    reason: StopReason
    description: str
    frames: list[StackFrame]
    symbolic_frames: int
    own_loop: bool
    hit_breakpoint_ids: list[int] = []
    text: str | None = None
    documents: list[Source] = []
    """What there is to read at this stop alone: the graph so far."""
    exception: ExceptionInfo | None = None
    """What one of the agent's own exception filters stopped at."""


class Resumed(Message, tag="resumed"):
    """That thread goes on; every id of its stop is dead, and its `documents` are gone."""

    thread_ident: int
    documents: list[Source] = []


class BreakpointChanged(Message, tag="breakpointChanged"):
    """Dynamo compiled, skipped or will not trace the breakpoint's line: its state is another now."""

    breakpoint: Breakpoint


class SourcesLoaded(Message, tag="sourcesLoaded"):
    """A compile has left documents (graphs, generated code); `removed` are those given up for them."""

    sources: list[Source]
    removed: list[Source] = []


class CompileBegins(Message, tag="compileBegins"):
    """While a thread is stopped, another enters the compiler, where it is going to wait for Dynamo's lock."""

    thread_ident: int


class Invalidated(Message, tag="invalidated"):
    """What a client has seen of a stopped thread is another now: variables were set, the compile was changed."""

    thread_ident: int
    areas: list[Area]
    stack_frame_id: int | None = None


class Output(Message, tag="output"):
    """A line for the debug console: a logpoint's text, or an error of ours (`category` "important")."""

    category: Literal["console", "important", "stdout", "stderr"]
    output: str
    path: str | None = None
    line: int | None = None


class Reply(Message, tag="reply"):
    """Answer to the request `id`; `body` is JSON the adapter need not read."""

    id: int
    body: msgspec.Raw = msgspec.Raw(b"{}")


class Failure(Message, tag="failure"):
    """The request `id` could not be served; `message` is a sentence for the user."""

    id: int
    message: str


FromAgent: TypeAlias = (
    Hello
    | DynamoReady
    | Stopping
    | Resumed
    | BreakpointChanged
    | SourcesLoaded
    | CompileBegins
    | Invalidated
    | Output
    | Reply
    | Failure
)


# ---- adapter → agent


class Configure(Request, tag="configure"):
    """Settings of the session; sent once, before any other request."""

    just_my_code: bool = True
    debug_dynamo: bool = False
    """True: pydevd keeps tracing while Dynamo traces, so that breakpoints inside torch._dynamo itself work (slow)."""
    stop_on_entry: bool = False
    record: bool = False
    """Write what Dynamo decides to the facts of the workspace, as `dynascope run` does."""
    first_id: int = FIRST_AGENT_ID


class SetBreakpoints(Request, tag="setBreakpoints"):
    """All breakpoints of one file, replacing those before; `path` as the program sees it. → BreakpointsBody"""

    path: str
    breakpoints: list[SourceBreakpoint]


class SetFunctionBreakpoints(Request, tag="setFunctionBreakpoints"):
    """All function breakpoints, replacing those before. → BreakpointsBody"""

    breakpoints: list[FunctionBreakpoint]


class SetInstructionBreakpoints(Request, tag="setInstructionBreakpoints"):
    """All instruction breakpoints, replacing those before. → BreakpointsBody"""

    breakpoints: list[InstructionBreakpoint]


class FindBreakpointLocations(Request, tag="breakpointLocations"):
    """The lines from `line` to `end_line` (included) of a file that have code. → BreakpointLocationsBody"""

    path: str
    line: int
    end_line: int


class SetDataBreakpoints(Request, tag="setDataBreakpoints"):
    """All data breakpoints, replacing those before. → BreakpointsBody"""

    breakpoints: list[DataBreakpoint]


class FindDataBreakpoint(Request, tag="dataBreakpointInfo"):
    """What a data breakpoint could be on. → DataBreakpointInfo

    `name` is a row below `variables_reference`, or an expression at `frame_id`; these two are served on the stopped
    thread. Without either `name` is one that means the same everywhere: `L['x']`, `s0`, `FILE.py:FUNCTION:x`.
    """

    name: str
    thread_ident: int | None = None
    variables_reference: int | None = None
    frame_id: int | None = None


class SetExceptionFilters(Request, tag="setExceptionFilters"):
    """The agent's own exception filters that are on, replacing those before. → BreakpointsBody"""

    filters: list[ExceptionFilter]


class ConfigurationDone(Request, tag="configurationDone"):
    """A program held by `dynascope.agent.launcher` (or `wait_for_client`) may start."""


class Acknowledge(Message, tag="acknowledge"):
    """The adapter knows of the stop of that thread; the thread may suspend itself now."""

    thread_ident: int


class Resume(Request, tag="resume"):
    """Resume a thread that waits in our own loop (inside pydevd, debugpy resumes it)."""

    thread_ident: int
    command: ResumeCommand


class PrepareStep(Request, tag="prepareStep"):
    """How the step that this stopped thread is about to be asked for differs from one by lines."""

    thread_ident: int
    granularity: Granularity = "line"
    target_id: int | None = None
    """Of `StepInTargets`: the call that a `stepIn` goes into."""


class Pause(Request, tag="pause"):
    """Stop at the next line Dynamo traces, on every thread that compiles. → {"compiling": [threadId…]}"""

    thread_id: int | None = None


class Threads(Request, tag="threads"):
    """The program's threads, for sessions without debugpy. → ThreadsBody"""


class Scopes(Request, tag="scopes"):
    """→ ScopesBody; served on the stopped thread."""

    thread_ident: int
    frame_id: int


class Variables(Request, tag="variables"):
    """→ VariablesBody; served on the stopped thread. `start`/`count` page; `hex` is DAP's valueFormat."""

    thread_ident: int
    variables_reference: int
    filter: Literal["indexed", "named"] | None = None
    start: int | None = None
    count: int | None = None
    hex: bool = False


class FindStepInTargets(Request, tag="stepInTargets"):
    """→ StepInTargetsBody; served on the stopped thread."""

    thread_ident: int
    frame_id: int


class Disassemble(Request, tag="disassemble"):
    """→ DisassembleBody. `offset` counts bytes, `instruction_offset` instructions; both may be negative."""

    memory_reference: str
    instruction_count: int
    offset: int = 0
    instruction_offset: int = 0


class Evaluate(Request, tag="evaluate"):
    """→ EvaluateResult; served on the stopped thread, on fakes, changing nothing."""

    thread_ident: int
    frame_id: int
    expression: str
    context: str = "repl"
    hex: bool = False
    assigned: str | None = None
    """The expression to set it to, for DAP's `setExpression`."""


class LoadedSources(Request, tag="loadedSources"):
    """→ LoadedSourcesBody: the documents of every compile so far, and those of the stops there are now."""


class SourceText(Request, tag="source"):
    """→ SourceBody; a document of a stop is written on the stopped thread."""

    source_reference: int


class Locations(Request, tag="locations"):
    """→ LocationsBody; served on the stopped thread. `location_reference` is one of a variable's."""

    thread_ident: int
    location_reference: int


class Modules(Request, tag="modules"):
    """→ ModulesBody: the files that Dynamo has traced code of."""


class Compiling(Message):
    """One thread in the compiler: a part of CompilesBody."""

    thread_ident: int
    thread_id: int
    thread_name: str
    state: Literal["tracing", "backend", "waiting", "stopped"]
    """`waiting`: for Dynamo's lock, which one compile holds at a time."""
    name: str = ""
    """`forward [0/1]`, of the frame being compiled."""
    path: str = ""
    line: int = 0
    nodes: int = 0
    backend: str | None = None


class CompilesBody(Struct, rename="camel"):
    compiles: list[Compiling]


class Compiles(Request, tag="compiles"):
    """→ CompilesBody: which threads are in the compiler now, and where. Read from outside, so a moment old."""


class Cancel(Message, tag="cancel"):
    """End the request of that id early; it is answered with a failure, or has been answered."""

    request_id: int


class Detach(Message, tag="detach"):
    """The session is over but the program is not: forget every breakpoint and step, release stopped threads."""


ToAgent: TypeAlias = (
    Configure
    | SetBreakpoints
    | SetFunctionBreakpoints
    | SetInstructionBreakpoints
    | FindBreakpointLocations
    | SetDataBreakpoints
    | FindDataBreakpoint
    | SetExceptionFilters
    | ConfigurationDone
    | Acknowledge
    | Resume
    | PrepareStep
    | Pause
    | Threads
    | Scopes
    | Variables
    | FindStepInTargets
    | Disassemble
    | Evaluate
    | LoadedSources
    | SourceText
    | Locations
    | Compiles
    | Modules
    | Cancel
    | Detach
)
