"""What Dynascope adds to the Debug Adapter Protocol: ranges of ids, documents, and the bodies of its own requests."""

from __future__ import annotations

from dynascope.wire.dap import DapStruct, Source, StackFrame

FIRST_AGENT_ID = 1 << 30
"""The lowest frame id and variablesReference of an agent; debugpy's are small counters."""

FIRST_ENTRY_ID = 1 << 40
"""debugpy's lowest id of a breakpoint that the agent set in it; the last 20 bits are the adapter's id."""

HAS_STOPPED = "Stopped here: the breakpoint stops again when Dynamo traces the line again."
"""The message of a line breakpoint, from its first stop to the end of the compile."""

FIRST_PAST = 1 << 28
"""More than any position of a trail: the first in an attempt that has ended."""

DOCUMENTS = "dynascope/"
"""The folder, which does not exist, in which clients see the documents of compiles."""


def document_path(name: str, extension: str) -> str:
    """Return the path of the document with this name."""
    return f"{DOCUMENTS}{name.replace('/', '-')}.{extension}"


def is_document(path: str | None) -> bool:
    """Whether a path of the client is that of a document: those of files are absolute."""
    return (path or "").startswith(DOCUMENTS)


def goto_target_id(position: int) -> int:
    """Return the id of a `GotoTarget` at a position of a trail; debugpy's ids are smaller."""
    return FIRST_AGENT_ID + position


class TimelineEvent(DapStruct):
    """One event of the compiler, or a compile-time stop."""

    number: int
    """Counts from 1 in each process."""
    seconds: float
    """The time since the program was started or attached to."""
    kind: str
    """`compile`, `restart`, `compiled`, `skipped`, `failed`, `stop`, or the noun of an exception filter."""
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


class TimelineArguments(DapStruct):
    """`count`: how many events at most, the newest."""

    count: int = 1_000


class SayArguments(DapStruct):
    """`text`: lines for the debug console."""

    text: str


class CompareArguments(DapStruct):
    """Two compile ids, `0/0` and `0/1`; without them the newest recompile and the compile that it replaces."""

    left: str | None = None
    right: str | None = None


CHANGES = "Changes"
"""The scope of what has changed since the previous stop, a line or a checkpoint."""
PREVIOUS_STOP = "since the previous stop"
LINE = "since this line began"
CHECKPOINT = "since checkpoint {name}"
"""The rows of that scope."""
