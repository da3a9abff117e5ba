"""What a process shows of its compiles in progress.

`start` and the times below `Standing` are those of Linux's monotonic clock, which all processes share; the others are
seconds since `start`. None of them counts the time in which a debugger stopped the thread.
"""

from __future__ import annotations

from msgspec import Struct, field


class Process(Struct, array_like=True):
    """A process that records; `program` is "" until it imports torch."""

    pid: int
    program: str = ""
    rank: int | None = None
    ended: int = 0
    """How many compiles have ended."""
    latest: str = ""
    """The one that ended last: `forward [0/1]`."""
    latest_at: float = 0.0


class CompileInProgress(Struct, array_like=True):
    """A compile in progress, or what torch compiles later for one that has ended: its backward, its kernels."""

    compile_id: str
    function: str
    """The compiled function; `path` and `line` are of its first line."""
    path: str
    line: int
    resumes_at: int | None = None
    is_later: bool = False
    """Whether that compile has ended, and this is its backward or its kernels."""
    start: float = 0.0
    thread: str = ""
    attempt: int = 1
    backend: str = ""
    """The backend that compiles its graph, or has compiled one."""
    phases: list[tuple[str, float]] = field(default_factory=list)
    """torch's phases that have begun and not ended, the outermost first, each with when it began."""
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds in each phase itself, without the phases within it; "" for those outside of all."""
    charged: float = 0.0
    """Until when `spent` has all time; what came after belongs to the innermost phase."""


class TracingPlace(Struct, array_like=True):
    """Where Dynamo traces: the innermost line in the user's own code; `since` is when it began this line."""

    path: str
    line: int
    function: str
    since: float
    library: tuple[str, int, str, float] | None = None
    """The same of the innermost line of all, where that is in a library which this one calls."""


class Standing(Struct, array_like=True):
    """How long a debugger has stopped the thread, and since when it does now."""

    seconds: float = 0.0
    since: float | None = None
