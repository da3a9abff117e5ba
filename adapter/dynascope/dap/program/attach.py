"""Find the program to attach to: by address and token, or by process id, into which debugpy must be able to inject.

`dynascope.listen()` opens one port that requires a token as the first line; `debugpy.listen()` opens one that does not.
The port is taken for the former if there is a token: in the configuration, in the file, readable by its owner only,
that `dynascope.listen()` leaves in the user's runtime directory, or in DYNASCOPE_TOKEN.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from dynascope.dap.program import calls_by_gdb
from dynascope.dap.protocol.call import RequestError
from dynascope.dap.protocol.launch_arguments import Address, AttachArguments
from dynascope.debugpy_injector import gdb_command
from dynascope.wire import listening
from dynascope.wire.channel import TOKEN_VARIABLE

FAILED = "Attach to PID failed."
"""debugpy's output when its injection has failed (since debugpy 1.8.17); pages of gdb's output follow."""

_INSTEAD = "Have the program call dynascope.listen(), and attach with `connect`."
_GDB = (
    "Install a gdb that can by `pip install 'dynascope[attach]'`, or have the program call dynascope.listen(), and "
    "attach with `connect`."
)


def address_of(arguments: AttachArguments) -> Address | None:
    """Return the address to connect to; `host` and `port` are debugpy's old form of `connect`."""
    if arguments.connect is not None:
        return arguments.connect
    if arguments.port is not None:
        return Address(host=arguments.host or "127.0.0.1", port=arguments.port)
    return None


def token_for(port: int, configured: str | None) -> str | None:
    """Return the token of the program that listens on `port`; None if none is found."""
    if configured:
        return configured
    program = listening.read(port)
    return program.token if program is not None else os.environ.get(TOKEN_VARIABLE)


async def check(process_id: int | str) -> None:
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
    if not (gdb_command() or shutil.which("lldb")):
        raise RequestError(f"Attaching to a process needs gdb, which is not installed. {_GDB}")
    if complaint := await calls_by_gdb.complaint():
        raise RequestError(
            f"{named} was not attached to, because that would end it: gdb called a function in a program that was "
            f"started to try it, and that program ended ({complaint}). {_GDB}"
        )


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
