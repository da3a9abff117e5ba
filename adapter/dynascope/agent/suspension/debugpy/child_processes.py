"""Keeps pydevd out of the processes that torch itself starts: it would trace inductor's compile workers.

Of those that are commands of their own the command line tells. A worker that inductor forks, or has `multiprocessing`
spawn, looks like any other child of the program: there, who starts it tells.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from dynascope.wire.torch_processes import is_torchs

_INDUCTOR = "torch._inductor"


def but_torchs_own(patch: Callable[..., Any]) -> Callable[..., Any]:
    """`patch` takes the command line of a child and returns one under which pydevd is in it."""

    @functools.wraps(patch)
    def patch_args(args: Any, *more: Any, **options: Any) -> Any:
        return args if _is_torchs(args) else patch(args, *more, **options)

    return patch_args


def but_for_torchs_own(applies: Callable[[], bool]) -> Callable[[], bool]:
    """`applies` says whether children that are started now shall be debugged."""

    @functools.wraps(applies)
    def apply_arg_patching() -> bool:
        return applies() and not starts_torchs_own()

    return apply_arg_patching


def starts_torchs_own() -> bool:
    """Whether the current thread is just starting a worker of a process pool of inductor's."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        # concurrent.futures.process.ProcessPoolExecutor._spawn_process, of a subclass of inductor's
        if frame.f_code.co_name == "_spawn_process":
            return type(frame.f_locals.get("self")).__module__.startswith(_INDUCTOR)
        frame = frame.f_back
    return False


def _is_torchs(args: Any) -> bool:
    try:
        return is_torchs(args if isinstance(args, str) else " ".join(map(os.fsdecode, args)))
    except TypeError:  # what is no command line is the program's error to make
        return False
