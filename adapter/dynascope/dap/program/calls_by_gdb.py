"""Try whether gdb can call functions in processes here, in a `sleep`, before it does so in the user's program."""

from __future__ import annotations

import asyncio
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE, STDOUT

from dynascope.debugpy_injector import gdb_command, has_package

_SECONDS = 20.0
_COMPLAINT = re.compile(r"^.*(?:Couldn't|Cannot|cannot|not permitted).*$", re.MULTILINE)


async def complaint() -> str | None:
    """Return what gdb says if a program does not outlive a call that gdb makes in it, or None.

    gdb 13 and older cannot restore the registers of processors whose state is larger than it knows (AMX: Intel's since
    2023): the system call that the program was in then fails, and the program with it. The package's gdb is
    16 or newer, and not tried: that would take half a second, or two on a busy machine.
    """
    if has_package():
        return None
    gdb, sleep = gdb_command(), shutil.which("sleep")
    if not gdb or sleep is None:
        return None
    program = await asyncio.create_subprocess_exec(sleep, "3600", stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    try:
        arguments = ["--nw", "--nh", "--nx", "--pid", str(program.pid), "--batch", "--eval-command=call (int)getpid()"]
        debugger = await asyncio.create_subprocess_exec(*gdb, *arguments, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        try:
            output, _ = await asyncio.wait_for(debugger.communicate(), _SECONDS)
        except TimeoutError:
            debugger.kill()
            await debugger.wait()
            return None
        said = _COMPLAINT.search(output.decode(errors="replace"))
        try:
            await asyncio.wait_for(program.wait(), 0.05 if said is None else 1)
        except TimeoutError:
            return None
        return said[0].strip() if said is not None else "the program ended"
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
