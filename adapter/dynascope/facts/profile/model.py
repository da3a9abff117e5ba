"""The profile of one compile: the tree of functions that Dynamo traced, and the tree of torch's phases.

Times are seconds, without those in which a debugger stopped the thread.
"""

from __future__ import annotations

from msgspec import Struct

NO_PARENT = -1


class TracedFunction(Struct, array_like=True, gc=False):
    """A function at one place of the tree of calls: all its calls from one line, in all attempts."""

    parent: int
    """The number of its caller, or NO_PARENT."""
    function: str
    path: str
    line: int
    """The first of its code."""
    call_line: int
    """The caller's line; 0 for the compiled function."""
    seconds: float = 0.0
    """Dynamo's time for its lines, without its calls and without the backend."""
    count: int = 0
    """How often Dynamo entered it."""


class Phase(Struct, array_like=True, gc=False):
    """A phase that torch times itself, by its name in `torch._dynamo.utils.compile_times()`."""

    parent: int
    """The number of the phase that it is a part of, or NO_PARENT."""
    name: str
    began: float
    """Since the compile began."""
    seconds: float = 0.0


class Profile(Struct):
    """Where the time of a compile went, or of what torch compiled for it later: its backward, its kernels."""

    began: float
    """Unix time."""
    functions: list[TracedFunction]
    phases: list[Phase]
    left_out: int = 0
    """How many phases were not kept, because there were too many."""
