"""Keep pydevd out of processes that torch starts, such as inductor's compile workers.

Processes with a command of their own are recognised by their command line. A worker that inductor forks or spawns with
`multiprocessing` resembles any other child of the program: it is recognised by the code that starts it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.wire.command_lines import is_torchs


def is_loaded() -> bool:
    """Whether debugpy's debugger is in this process."""
    constants: Any = sys.modules.get("_pydevd_bundle.pydevd_constants")
    return constants is not None and constants.get_global_debugger() is not None


@contextlib.contextmanager
def unloaded() -> Iterator[None]:
    """End debugpy's debugger, and let another start, whose adapter is not to be debugged."""
    from _pydev_bundle import pydev_monkey

    pydevd: Any = importlib.import_module("pydevd")
    pydevd.stoptrace()
    pydevd.SetupHolder.setup = None  # else child processes of the program connect to the adapter of this debugger
    with pydev_monkey.skip_subprocess_arg_patch():
        yield


def leave(debugger: Any, constants: Any) -> None:
    """Stop tracing this process, forked from a debugged one; `constants`: `pydevd_constants`.

    pydevd itself goes on tracing: where a thread ends it takes a lock that its writer may have held at the fork.
    """
    from _pydev_bundle import pydev_monkey

    if getattr(constants, "PYDEVD_USE_SYS_MONITORING", False):
        from _pydevd_sys_monitoring import pydevd_sys_monitoring

        pydevd_sys_monitoring.stop_monitoring(all_threads=True)
    else:
        debugger.disable_tracing()
        threading.settrace(None)  # type: ignore[arg-type]
    pydev_monkey.undo_patch_thread_modules()  # threads that the child starts would be traced
    constants.set_global_debugger(None)


_INDUCTOR = "torch._inductor"


def but_torchs_own(patch: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `patch`, which adds pydevd to a command line, to leave those of torch unchanged."""

    @functools.wraps(patch)
    def patch_args(args: Any, *more: Any, **options: Any) -> Any:
        return args if _is_torchs(args) else patch(args, *more, **options)

    return patch_args


def starts_torchs_own() -> bool:
    """Whether the current thread is starting a worker of one of inductor's process pools."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        # concurrent.futures.process.ProcessPoolExecutor._spawn_process, of a subclass in inductor
        if frame.f_code.co_name == "_spawn_process":
            return type(locals_of(frame).get("self")).__module__.startswith(_INDUCTOR)
        frame = frame.f_back
    return False


def _is_torchs(args: Any) -> bool:
    try:
        return is_torchs(args if isinstance(args, str) else " ".join(map(os.fsdecode, args)))
    except TypeError:  # an invalid command line is the program's own error, raised later
        return False
