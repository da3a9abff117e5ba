"""Report each process that may run Python and that the program starts.

`subprocess` and `multiprocessing` start them with `_posixsubprocess`, since Python 3.13 also with `os.posix_spawn`.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from dynascope.agent.program.threads import hidden_frame
from dynascope.wire.command_lines import is_torchs

_SHELLS = ("sh", "bash", "dash", "zsh", "fish")
_COMPILERS = tuple(f"{os.sep}{name}{os.sep}" for name in (os.path.join("torch", "_inductor"), "triton"))


def call_before_each(then: Callable[[Sequence[str]], None], unseen: Callable[..., None]) -> None:
    """Call `then` with each command line, on the thread that starts the process.

    Not with those that torch starts for itself, nor with those that a compiler starts. `unseen` calls a function so
    that Dynamo does not compile it.
    """
    import _posixsubprocess  # type: ignore[import-not-found]

    def report(args: Any) -> None:
        try:
            command = [os.fsdecode(arg) for arg in args]
        except TypeError:  # the program's own error, raised below
            return
        if may_run_python(command) and not is_torchs(" ".join(command)) and not _a_compiler_starts_it():
            then(command)

    def reporting(start: Callable[..., Any], command_of: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(start)
        def reporting_start(*args: Any, **kwargs: Any) -> Any:
            unseen(report, command_of(*args, **kwargs))
            with hidden_frame:
                return start(*args, **kwargs)

        return reporting_start

    fork_exec = _posixsubprocess.fork_exec = reporting(_posixsubprocess.fork_exec, lambda args=(), *_: args)
    if (subprocess := sys.modules.get("subprocess")) is not None:
        subprocess._fork_exec = fork_exec  # type: ignore[attr-defined]
    os.posix_spawn = reporting(os.posix_spawn, _argv)
    os.posix_spawnp = reporting(os.posix_spawnp, _argv)
    os.system = reporting(os.system, lambda command="": ("sh", "-c", command))


def _argv(path: Any = None, argv: Any = None, *_: Any, **_more: Any) -> Any:
    return argv


def may_run_python(command: Sequence[str]) -> bool:
    """Whether a command line names Python, a shell or a script.

    `ldconfig`, which the import of torch starts, is none of them.
    """
    if not command:
        return False
    names = [os.path.basename(word) for word in command]
    if names[0] in _SHELLS or any("python" in name or name.endswith(".py") for name in names):
        return True
    try:
        with open(shutil.which(command[0]) or command[0], "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def starter_of_python(command: Sequence[str]) -> str | None:
    """Return the command that starts Python: `env`; "" for Python itself, None without it."""
    first, *others = (os.path.basename(word) for word in command)
    if "python" in first:
        return ""
    return first if any("python" in word for word in others) else None


def _a_compiler_starts_it() -> bool:
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if any(folder in frame.f_code.co_filename for folder in _COMPILERS):
            return True
        frame = frame.f_back
    return False
