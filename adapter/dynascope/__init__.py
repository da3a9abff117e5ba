"""Dynascope, a debugger for the compile time of torch.compile: the API for the debugged program.

    import dynascope

    dynascope.listen()            # then attach from the editor, or:
    dynascope.wait_for_client()
    dynascope.breakpoint()        # in compiled code: stops while Dynamo traces this line

    from dynascope import comptime
    comptime.print_locals()       # in compiled code: the locals as Dynamo knows them; changes nothing

    with dynascope.record() as trace:
        model(x)
    print(trace)                  # graph breaks, recompiles and failures, and what to do
    trace.check(graph_breaks=0)   # in a test

The module imports neither torch nor debugpy before they are needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"
__all__ = [
    "RecordedCompile",
    "RecordedGraph",
    "Recording",
    "ReportedProblem",
    "breakpoint",
    "comptime",
    "listen",
    "record",
    "wait_for_client",
]

if TYPE_CHECKING:
    from dynascope.agent.session.api.comptime import comptime
    from dynascope.in_process.record import record
    from dynascope.in_process.recording import RecordedCompile, RecordedGraph, Recording
    from dynascope.report.told_as_json import ReportedProblem

_ON_FIRST_USE = {
    "RecordedCompile": "dynascope.in_process.recording",
    "RecordedGraph": "dynascope.in_process.recording",
    "Recording": "dynascope.in_process.recording",
    "ReportedProblem": "dynascope.report.told_as_json",
    "comptime": "dynascope.agent.session.api.comptime",
    "record": "dynascope.in_process.record",
}
"""The modules of names that are imported when they are used: until then Dynamo is not hooked for `comptime`."""


def __getattr__(name: str) -> Any:
    """Import a name on first use."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module 'dynascope' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_ON_FIRST_USE[name]), name)
    return value


def listen(address: tuple[str, int] = ("127.0.0.1", 0), *, runtime: bool = True) -> tuple[str, int]:
    """Let a debugger attach to this process; return the host and port (port 0: a free one).

    A debugger must have the session's token: that of `DYNASCOPE_TOKEN`, else one in a file that only this user can
    read; its path is printed on standard error. With `runtime=False` debugpy is not used in the process, and only
    compiles stop; the same happens, with a message, if another debugger already uses debugpy in this process.
    If the process listens already, it continues to, and that address is returned.
    Raises OSError when the address cannot be used.
    """
    from dynascope.agent.session.startup.listener import listen

    return listen(address, runtime=runtime)


def load_ipython_extension(shell: Any) -> None:
    """Add `%%dynascope` and `%dynascope` to a notebook or IPython: `%load_ext dynascope`."""
    from dynascope.in_process.notebook import load

    load(shell, listen)


def wait_for_client() -> None:
    """Wait until a debugger has attached and is configured. Raises RuntimeError before `listen`."""
    from dynascope.agent.session.startup.listener import wait_for_client

    wait_for_client()


def breakpoint() -> None:
    """Stop here: while Dynamo traces this line, or when it runs outside compiled code.

    While tracing it works like `torch._dynamo.comptime.comptime.breakpoint`. Does nothing without a debugger attached.
    A session without debugpy (`runtime` is false) stops only at compile time, and says so at run time.
    """
    import torch

    if torch.compiler.is_dynamo_compiling():
        # Dynamo inlines this function, so it may only do what Dynamo can trace
        from torch._dynamo.comptime import comptime

        comptime(_stop_in_compile)
    else:
        _stop_at_runtime()


def _stop_in_compile(context: Any) -> None:
    """Stop while Dynamo traces; `context` is the `ComptimeContext` of `breakpoint` itself."""
    from dynascope.agent.session.session import current_session

    session = current_session()
    if session is not None:
        session.comptime_breakpoint(context)


def _stop_at_runtime() -> None:
    import sys

    debugpy: Any = sys.modules.get("debugpy")
    if debugpy is not None and not debugpy.is_client_connected():
        debugpy = None
    if "dynascope.agent.session.session" in sys.modules:
        from dynascope.agent.session.api.breakpoint import reached

        reached(sys._getframe(2), debugpy)
    if debugpy is not None:
        debugpy.breakpoint()  # skips frames in Dynascope's files
