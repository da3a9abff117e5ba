"""What the adapter says to an agent; see `wire.messages`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from dynascope.wire.dap import (
    FIRST_AGENT_ID,
    DataBreakpoint,
    FunctionBreakpoint,
    InstructionBreakpoint,
    SourceBreakpoint,
)
from dynascope.wire.exceptions import ExceptionFilter
from dynascope.wire.messages import Granularity, Message, Request, ResumeCommand, StoppedThreadRequest


class Configure(Request, tag="configure"):
    """Settings of the session; sent once, before any other request."""

    just_my_code: bool = True
    debug_dynamo: bool = False
    """True: pydevd keeps tracing while Dynamo traces, so that breakpoints inside torch._dynamo itself work (slow)."""
    stop_on_entry: bool = False
    record: bool = False
    """Write what Dynamo decides to the facts of the workspace, as `dynascope run` does."""
    compiled_autograd: str | None = None
    """The backend that compiles the program's backwards; None: compiled autograd is left to the program."""
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
    """What a data breakpoint could be on, at no stop. → DataBreakpointInfo

    `name` is one that means the same everywhere: `L['x']`, `s0`, `FILE.py:FUNCTION:x`.
    """

    name: str


class FindDataBreakpointAtStop(StoppedThreadRequest, tag="dataBreakpointInfoAtStop"):
    """→ DataBreakpointInfo: `name` is a row below `variables_reference`, or an expression at `frame_id`."""

    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class SetExceptionFilters(Request, tag="setExceptionFilters"):
    """The agent's own exception filters that are on, replacing those before. → BreakpointsBody"""

    filters: list[ExceptionFilter]


class ConfigurationDone(Request, tag="configurationDone"):
    """A program held by `dynascope.agent.startup.launcher` (or `wait_for_client`) may start."""


class Acknowledge(Message, tag="acknowledge"):
    """The adapter knows of the stop of that thread; the thread may suspend itself now."""

    thread_ident: int


class Resume(Request, tag="resume"):
    """Resume a thread that waits in our own loop; inside pydevd, where debugpy resumes all, one that goes on alone."""

    thread_ident: int
    command: ResumeCommand


class SingleThreadBody(Struct, rename="camel"):
    thread_ident: int


class SingleThread(Request, tag="singleThread"):
    """→ SingleThreadBody: the next command for this thread, inside pydevd, resumes no other (DAP's `singleThread`)."""

    thread_id: int
    """DAP's."""


class IsStoppedBody(Struct, rename="camel"):
    stopped: bool


class IsStopped(Request, tag="isStopped"):
    """→ IsStoppedBody: whether this thread waits inside pydevd, so that a step of it can begin."""

    thread_id: int
    """DAP's."""


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


class FormatStack(StoppedThreadRequest, tag="formatStack"):
    """→ FormattedStackBody. `hex` is DAP's valueFormat."""

    parameters: bool = True
    include_all: bool = False
    """The frames, too, that a stack without debugpy leaves out: of libraries, and of Dynamo."""
    hex: bool = False


class Scopes(StoppedThreadRequest, tag="scopes"):
    """→ ScopesBody."""

    frame_id: int


class Variables(StoppedThreadRequest, tag="variables"):
    """→ VariablesBody. `start`/`count` page; `hex` is DAP's valueFormat.

    `in_parts`: a client that cannot page asks for all; many rows then come below rows of ranges. `prefix`: only named
    rows that begin so, for completions, and most of them without their value.
    """

    variables_reference: int
    filter: Literal["indexed", "named"] | None = None
    start: int | None = None
    count: int | None = None
    hex: bool = False
    in_parts: bool = False
    prefix: str | None = None


class FindStepInTargets(StoppedThreadRequest, tag="stepInTargets"):
    """→ StepInTargetsBody."""

    frame_id: int


class Disassemble(Request, tag="disassemble"):
    """→ DisassembleBody. `offset` counts bytes, `instruction_offset` instructions; both may be negative."""

    memory_reference: str
    instruction_count: int
    offset: int = 0
    instruction_offset: int = 0


class Evaluate(StoppedThreadRequest, tag="evaluate"):
    """→ EvaluateResult, on fakes, changing nothing."""

    frame_id: int
    expression: str
    context: str = "repl"
    hex: bool = False
    assigned: str | None = None
    """The expression to set it to, for DAP's `setExpression` and `setVariable`."""
    variables_reference: int | None = None
    """For `setVariable`: the scope whose name `expression` is; the frame is that of the scope."""


class LoadedSources(Request, tag="loadedSources"):
    """→ LoadedSourcesBody: the documents of every compile so far, and those of the stops there are now."""


class SourceText(Request, tag="source"):
    """→ SourceBody; a document of a stop is written on the stopped thread."""

    source_reference: int


class Locations(StoppedThreadRequest, tag="locations"):
    """→ LocationsBody. `location_reference` is one of a variable's."""

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
    | FindDataBreakpointAtStop
    | SetExceptionFilters
    | ConfigurationDone
    | Acknowledge
    | Resume
    | SingleThread
    | IsStopped
    | PrepareStep
    | Pause
    | Threads
    | FormatStack
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
