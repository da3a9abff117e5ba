"""The messages from the adapter to an agent; see `wire.messages`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import DapStruct, DataBreakpoint, FunctionBreakpoint, InstructionBreakpoint, SourceBreakpoint
from dynascope.wire.messages import (
    Granularity,
    Message,
    Request,
    ResumeCommand,
    StoppedThreadRequest,
    ToAgent,
    TravelCommand,
)


class Configure(Request, tag="configure", kw_only=True):
    """Configure the session; sent once, before any other request."""

    just_my_code: bool = True
    debug_dynamo: bool = False
    """True: pydevd keeps tracing while Dynamo traces, so that breakpoints inside torch._dynamo itself work (slow)."""
    stop_on_entry: bool = False
    attached: bool = False
    """Whether the program ran before the session began."""
    record: bool | Literal["facts", "guards"] = False
    """Write Dynamo's decisions to the facts of the workspace, as `dynascope run` does.

    "facts": without graphs and generated code. "guards": with what guards cost, measured after each compile.
    """
    history: bool = True
    """Record what becomes of each value in compiles that may stop."""
    raise_timeouts: bool | None = False
    """Have process groups wait for a rank that is stopped; None: where all ranks are on this machine."""
    compiled_autograd: str | None = None
    """The backend that compiles the program's backwards; None leaves compiled autograd to the program."""
    first_id: int = FIRST_AGENT_ID


class SetBreakpoints(Request, tag="setBreakpoints", kw_only=True):
    """Replace all breakpoints of one file; `path` is the program's. Reply: BreakpointsBody."""

    path: str
    breakpoints: list[SourceBreakpoint]


class SetFunctionBreakpoints(Request, tag="setFunctionBreakpoints", kw_only=True):
    """Replace all function breakpoints. Reply: BreakpointsBody."""

    breakpoints: list[FunctionBreakpoint]


class SetInstructionBreakpoints(Request, tag="setInstructionBreakpoints", kw_only=True):
    """Replace all instruction breakpoints. Reply: BreakpointsBody."""

    breakpoints: list[InstructionBreakpoint]


class FindBreakpointLocations(Request, tag="breakpointLocations", kw_only=True):
    """Find the lines with code from `line` to `end_line` (included). Reply: BreakpointLocationsBody."""

    path: str
    line: int
    end_line: int


class SetDataBreakpoints(Request, tag="setDataBreakpoints", kw_only=True):
    """Replace all data breakpoints. Reply: BreakpointsBody."""

    breakpoints: list[DataBreakpoint]


class FindDataBreakpoint(Request, tag="dataBreakpointInfo", kw_only=True):
    """Find what a data breakpoint can be set on without a stop. Reply: DataBreakpointInfo.

    `name` means the same in every frame: `L['x']`, `s0`, `FILE.py:FUNCTION:x`.
    """

    name: str


class FindDataBreakpointAtStop(StoppedThreadRequest, tag="dataBreakpointInfoAtStop", kw_only=True):
    """Find the child `name` of `variables_reference`, or expression at `frame_id`. Reply: DataBreakpointInfo."""

    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class ExceptionFilter(DapStruct):
    """A filter that is switched on, with the `id` of its breakpoint; a `condition` of None is always true."""

    id: int
    filter_id: str
    condition: str | None = None


class SetExceptionFilters(Request, tag="setExceptionFilters", kw_only=True):
    """Replace the agent's exception filters that are switched on. Reply: BreakpointsBody."""

    filters: list[ExceptionFilter]


class ConfigurationDone(Request, tag="configurationDone", kw_only=True):
    """Let a program start that `dynascope.agent.session.startup.launcher` or `wait_for_client` keeps waiting."""


class Acknowledge(ToAgent, tag="acknowledge"):
    """Confirm a thread's `Stopping`; the thread may suspend itself now."""

    thread_ident: int


class Resume(Request, tag="resume", kw_only=True):
    """Resume a thread that waits in the agent's own loop, or inside pydevd one thread without the others."""

    thread_ident: int
    command: ResumeCommand


class SingleThread(Request, tag="singleThread", kw_only=True):
    """Let the next command inside pydevd resume only this thread (DAP's `singleThread`). Reply: its ident."""

    thread_id: int
    """DAP's thread id."""


class RunningStackBody(Struct, rename="camel"):
    thread_name: str
    frames: list[str]
    """`file.py:12 in name`, innermost first; empty when the thread is stopped or unknown."""


class RunningStack(Request, tag="runningStack", kw_only=True):
    """Ask where a thread is that was to pause and has not stopped. Reply: RunningStackBody."""

    thread_id: int
    """DAP's thread id."""


class IsStopped(Request, tag="isStopped", kw_only=True):
    """Ask whether this thread waits inside pydevd, so that a step of it can begin. Reply: a bool."""

    thread_id: int
    """DAP's thread id."""


class PrepareStep(Request, tag="prepareStep", kw_only=True):
    """Set the granularity or target of the next step of this stopped thread."""

    thread_ident: int
    granularity: Granularity = "line"
    target_id: int | None = None
    """The id of the `StepInTarget` that `stepIn` steps into."""


class PrepareTravel(StoppedThreadRequest, tag="prepareTravel", kw_only=True):
    """Set where this thread goes back to when it is resumed next."""

    command: TravelCommand
    granularity: Granularity = "line"
    frame_id: int | None = None
    """The frame that `restartFrame` restarts."""
    target_id: int | None = None
    """The id of the `GotoTarget` that `goto` leads to."""


class FindGotoTargets(StoppedThreadRequest, tag="gotoTargets", kw_only=True):
    """Find where a line of the program's file `path` began before. Reply: GotoTargetsBody."""

    path: str
    line: int


class Timeline(Request, tag="timeline", kw_only=True):
    """List the newest `count` events of the compiler. Reply: TimelineBody."""

    count: int


class Compare(Request, tag="compare", kw_only=True):
    """Compare two compiles of one function by their ids, `0/0` and `0/1`. Reply: CompareBody.

    Without `left` the compile that `right` replaces is taken; without both, the newest recompile.
    """

    left: str | None = None
    right: str | None = None
    thread_ident: int | None = None
    """The thread that is stopped at compile time, which serves the request: its compile can be compared, too."""


class Pause(Request, tag="pause", kw_only=True):
    """Stop at the next line Dynamo traces, on every thread that compiles. Reply: {"compiling": [threadId…]}."""

    thread_id: int | None = None


class Threads(Request, tag="threads", kw_only=True):
    """List the program's threads, in a session without debugpy. Reply: ThreadsBody."""


class FormatStack(StoppedThreadRequest, tag="formatStack", kw_only=True):
    """Format a stack; `hex` is DAP's valueFormat. Reply: FormattedStackBody."""

    parameters: bool = True
    include_all: bool = False
    """Include the frames of libraries and of Dynamo that a stack without debugpy leaves out."""
    hex: bool = False


class Scopes(StoppedThreadRequest, tag="scopes", kw_only=True):
    """List the scopes of a frame. Reply: ScopesBody."""

    frame_id: int


class Variables(StoppedThreadRequest, tag="variables", kw_only=True):
    """List variables; `start` and `count` page, `hex` is DAP's valueFormat. Reply: VariablesBody.

    `in_parts` is for a client that cannot page: many rows then become children of rows of ranges. `prefix` selects the
    named rows that begin with it, for completions; most of those have no value.
    """

    variables_reference: int
    filter: Literal["indexed", "named"] | None = None
    start: int | None = None
    count: int | None = None
    hex: bool = False
    in_parts: bool = False
    prefix: str | None = None


class FindStepInTargets(StoppedThreadRequest, tag="stepInTargets", kw_only=True):
    """List the calls that `stepIn` can step into. Reply: StepInTargetsBody."""

    frame_id: int


class Disassemble(Request, tag="disassemble", kw_only=True):
    """Disassemble code; `offset` is in bytes, and both offsets may be negative. Reply: DisassembleBody."""

    memory_reference: str
    instruction_count: int
    offset: int = 0
    instruction_offset: int = 0


class Evaluate(StoppedThreadRequest, tag="evaluate", kw_only=True):
    """Evaluate an expression on fake tensors, changing nothing. Reply: EvaluateResult."""

    frame_id: int
    expression: str
    context: str = "repl"
    hex: bool = False
    assigned: str | None = None
    """The new value, an expression, for DAP's `setExpression` and `setVariable`."""
    variables_reference: int | None = None
    """For `setVariable`: the scope that contains the name `expression`; the frame is that of the scope."""


class LoadedSources(Request, tag="loadedSources", kw_only=True):
    """List the documents of every compile so far and of the current stops. Reply: LoadedSourcesBody."""


class SourceText(Request, tag="source", kw_only=True):
    """Read a document; one of a stop is written on the stopped thread. Reply: SourceBody."""

    source_reference: int


class RunCommand(Request, tag="runCommand", kw_only=True):
    """Answer a command of the debug console that needs no stop. Reply: EvaluateResult."""

    name: str
    argument: str


class Locations(StoppedThreadRequest, tag="locations", kw_only=True):
    """Look up a variable's `location_reference`. Reply: LocationsBody."""

    location_reference: int


class Modules(Request, tag="modules", kw_only=True):
    """List the files in which Dynamo has traced code. Reply: ModulesBody."""


class Compiling(Message):
    """One thread that is in the compiler."""

    thread_ident: int
    thread_id: int
    thread_name: str
    state: Literal["tracing", "backend", "waiting", "stopped"]
    """`waiting`: for Dynamo's lock, which one compile holds at a time."""
    name: str = ""
    """The frame being compiled: `Model.forward [0/1]`."""
    path: str = ""
    line: int = 0
    nodes: int = 0
    backend: str | None = None


class Compiles(Request, tag="compiles", kw_only=True):
    """List the threads in the compiler; read from another thread, so slightly stale. Reply: list[Compiling]."""


class CompileOn(Request, tag="compileOn", kw_only=True):
    """Ask what a thread compiles now; read from another thread, so slightly stale.

    Reply: `the backend inductor compiles the graph that ends at model.py:20, in f [0/1]`; "" for no compile.
    """

    thread_id: int


class Cancel(ToAgent, tag="cancel"):
    """Cancel the request of that id; it is answered with a failure, or has been answered."""

    request_id: int


class Detach(ToAgent, tag="detach"):
    """End the session, not the program: forget every breakpoint and step, resume stopped threads."""
