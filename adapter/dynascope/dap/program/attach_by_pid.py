"""Check whether debugpy can be injected into a running process before it tries: it takes a minute to fail."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from dynascope.dap.protocol.errors import RequestError

FAILED = "Attach to PID failed."
"""debugpy's output when its injection has failed (since debugpy 1.8.17); pages of gdb's output follow."""

_INSTEAD = "Have the program call dynascope.listen(), and attach with `connect`."


def check(process_id: int | str) -> None:
    """Raise RequestError with the reason and what to do if the process cannot be attached to."""
    import psutil  # type: ignore[import-untyped]

    try:
        pid = int(process_id)
        process = psutil.Process(pid)
        command, owner = process.cmdline(), process.uids().effective
    except ValueError:
        raise RequestError(f"`processId` is not a process id: {process_id!r}.") from None
    except psutil.NoSuchProcess:
        raise RequestError(f"There is no process {pid}.") from None
    except psutil.Error as error:
        raise RequestError(f"Process {pid} cannot be inspected: {error}. {_INSTEAD}") from None
    if sys.platform != "linux":
        return
    named = f"Process {pid} ({' '.join(command)[:80] or process.name()})"
    if not _may_trace(pid):
        raise RequestError(f"{named} cannot be attached to: {_why_not_traced(owner)} {_INSTEAD}")
    if not _is_python(pid):
        raise RequestError(f"{named} is not a Python program.")
    if not (shutil.which("gdb") or shutil.which("lldb")):
        raise RequestError(f"Attaching to a process needs gdb, which is not installed. Install it, or: {_INSTEAD}")


def _may_trace(pid: int) -> bool:
    """Whether the kernel lets this user trace the process, and so open its memory."""
    try:
        with open(f"/proc/{pid}/mem", "rb"):
            return True
    except OSError:
        return False


def _why_not_traced(owner: int) -> str:
    if os.getuid() not in (0, owner):
        return "it is another user's."
    try:
        scope = int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except (OSError, ValueError):
        scope = 0
    if scope:
        return f"this system allows that to root alone (kernel.yama.ptrace_scope is {scope}; 0 allows it to you)."
    return "the system does not allow tracing it (ptrace); in a container that takes --cap-add=SYS_PTRACE."


def _is_python(pid: int) -> bool:
    """Whether a Python executable or, in a program that embeds it, libpython is mapped."""
    try:
        mapped = {
            Path(line.split()[-1]).name for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "/" in line
        }
    except OSError:
        return True  # unknown: debugpy will find out
    return any(name.startswith(("python", "libpython")) for name in mapped)
