"""Name this process as its user knows it: by its command line, and by its rank in a distributed job."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from dynascope.facts.current_compiles import command_line

_arguments: Sequence[str] | None = None
"""See `named_by`."""


def named_by(arguments: Sequence[str]) -> None:
    """Use these as the command line after `python`.

    For processes in which `sys.argv` is something else, such as a worker of a test run.
    """
    global _arguments
    _arguments = arguments


def program() -> str:
    """Return the command line after `python`, quoted for a shell, or the interpreter.

    A script in the current folder is named as there, although a debugger starts it by its whole path.
    """
    if _arguments is not None:
        return command_line(_arguments, None)
    arguments = [*map(_in_folder, sys.argv[:1]), *sys.argv[1:]]
    return command_line(arguments, _module()) or sys.executable


def _in_folder(path: str) -> str:
    relative = os.path.relpath(path, folder()) if os.path.isabs(path) and folder() else os.pardir
    return path if relative.split(os.sep)[0] == os.pardir else relative


def folder() -> str:
    """Return the current folder; "" where it no longer exists."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def rank() -> int | None:
    """Return this process's rank in a distributed job, or None.

    It is known once the job's launcher has set it in the environment, or the process has joined a process group:
    `torch.distributed.get_rank` (1.0).
    """
    rank = os.environ.get("RANK", "")
    if rank.isdecimal():
        return int(rank)
    distributed: Any = sys.modules.get("torch.distributed.distributed_c10d")
    has_joined = distributed is not None and getattr(distributed, "is_initialized", bool)()
    return int(distributed.get_rank()) if has_joined else None


def _module() -> str | None:
    """Return the module name passed to `python -m`, or None."""
    if sys.argv[:1] == ["-m"]:  # Python still looks for it, and imports its package
        return next(iter(sys.orig_argv[sys.orig_argv.index("-m") + 1 :]), None) if "-m" in sys.orig_argv else None
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    name: str | None = getattr(spec, "name", None)
    return None if name in (None, "__main__") else name.removesuffix(".__main__")


def say(text: str) -> None:
    """Write to stderr, if that can be: a full disk is no error of the program."""
    stream: Any = sys.stderr  # None in a program without one, where `print` would take stdout
    line = f"dynascope: {text}\n"
    if stream is None:
        return
    is_the_process_own = stream is sys.__stderr__
    with suppress(OSError, ValueError):
        if is_the_process_own:
            stream.flush()
            # what its buffer could not write would be an error when the program ends
            os.write(stream.fileno(), line.encode(errors="backslashreplace"))
        else:
            stream.write(line)


def has_child_aborted() -> bool:
    """Whether this process fails because a process that it has started was ended by SIGABRT.

    `torch.distributed.elastic.multiprocessing.errors.ChildFailedError.failures` (1.9) of torchrun,
    `torch.multiprocessing.ProcessExitedException.signal_name` (1.6) of `mp.spawn`.
    """
    error: Any = getattr(sys, "last_value", None)
    failures = getattr(error, "failures", None)
    codes = [getattr(each, "exitcode", 0) for each in failures.values()] if isinstance(failures, dict) else []
    return -signal.SIGABRT in codes or getattr(error, "signal_name", "") == "SIGABRT"
