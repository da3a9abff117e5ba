"""Dynascope, a debugger for the compile time of torch.compile: what a program says to it.

    import dynascope

    dynascope.listen()            # then attach from the editor, or:
    dynascope.wait_for_client()
    dynascope.breakpoint()        # in compiled code: stops while Dynamo traces this line

    from dynascope import comptime
    comptime.print_locals()       # in compiled code: what Dynamo knows at this line; changes nothing

Nothing here imports torch or debugpy before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["breakpoint", "comptime", "listen", "wait_for_client"]

if TYPE_CHECKING:
    from dynascope.agent.api.comptime import comptime


def __getattr__(name: str) -> Any:
    """`comptime`, when somebody asks for it: until then nothing of Dynamo is watched for it."""
    if name != "comptime":
        raise AttributeError(f"module 'dynascope' has no attribute {name!r}")
    from dynascope.agent.api.comptime import comptime

    globals()[name] = comptime
    return comptime


def listen(address: tuple[str, int] = ("127.0.0.1", 0), *, runtime: bool = True) -> tuple[str, int]:
    """Let a debugger attach to this process; return the host and port to attach to (port 0: a free one).

    A debugger must know the session's token: that of `DYNASCOPE_TOKEN`, else one left in a file that only this user
    can read; its path is printed on standard error. With `runtime=False` debugpy stays out of the process, and only
    compiles stop; so it is, with a message, where another debugger uses debugpy in this process already.
    A process that listens already goes on doing so, and its address is returned.
    Raises OSError when the address cannot be used.
    """
    from dynascope.agent.startup.listener import listen

    return listen(address, runtime=runtime)


def wait_for_client() -> None:
    """Wait until a debugger has attached and set its breakpoints. Raises RuntimeError before `listen`."""
    from dynascope.agent.startup.listener import wait_for_client

    wait_for_client()


def breakpoint() -> None:
    """Stop here: while Dynamo traces this line, as `torch._dynamo.comptime.comptime.breakpoint` does; else as it runs.

    Does nothing without a debugger attached. A session without debugpy (`runtime` is false) stops at compile time
    alone, and says so where this is reached at run time.
    """
    import torch

    if torch.compiler.is_dynamo_compiling():
        # Dynamo inlines this function, so it may only do what Dynamo can trace
        from torch._dynamo.comptime import comptime

        comptime(_stop_in_compile)
    else:
        _stop_at_runtime()


def _stop_in_compile(context: Any) -> None:
    """Runs while Dynamo traces; `context` is the `ComptimeContext` of `breakpoint` itself."""
    from dynascope.agent.session.current import current_session

    session = current_session()
    if session is not None:
        session.comptime_breakpoint(context)


def _stop_at_runtime() -> None:
    import sys

    debugpy: Any = sys.modules.get("debugpy")
    if debugpy is not None and not debugpy.is_client_connected():
        debugpy = None
    if "dynascope.agent.session.current" in sys.modules:
        from dynascope.agent.api.breakpoint import reached

        reached(sys._getframe(2), debugpy)
    if debugpy is not None:
        debugpy.breakpoint()  # passes over frames in our files
