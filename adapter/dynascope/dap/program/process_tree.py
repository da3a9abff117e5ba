"""End all processes that a launch has started: the program and all its descendants.

A process belongs to a launch if it descends from one of its processes, or if its environment contains the launch's
mark: that also finds children that started their own session (setsid) or whose parents are gone. On Linux the adapter
is also their subreaper, so that an orphan becomes the adapter's child and not init's.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import secrets
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil  # type: ignore[import-untyped]

MARK_VARIABLE = "DYNASCOPE_SESSION"
GRACE = 0.3
"""Seconds between SIGTERM and SIGKILL."""
PATIENCE = 1.5
"""Seconds after which to give up on processes that do not end (in uninterruptible sleep)."""

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Make this process the reaper of its orphaned descendants (on Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class LaunchedProcesses:
    """The processes of one launch."""

    def __init__(self, *, ours: bool = True) -> None:
        """Include, with `ours`, all descendants of this process, even orphans without the mark."""
        self._ours = ours
        self.mark = secrets.token_hex(16)
        self._roots: set[int] = set()

    def environment(self) -> dict[str, str]:
        """Return the variable for the first process's environment, which all inherit."""
        return {MARK_VARIABLE: self.mark}

    def add(self, pid: int) -> None:
        """Add a process, and with it its descendants."""
        self._roots.add(pid)

    async def end(self) -> bool:
        """Send SIGTERM, then SIGKILL; return whether all ended within `PATIENCE` seconds."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        processes: dict[int, psutil.Process] = {}
        while True:
            # a process may start another while it is being ended, so list them again each time
            for process in self._members():
                processes.setdefault(process.pid, process)
            alive = [process for process in processes.values() if _is_alive(process)]
            elapsed = loop.time() - start
            if not alive:
                return True
            if elapsed > PATIENCE:
                return False
            _signal(alive, kill=elapsed >= GRACE)
            await asyncio.sleep(0.02)

    def _members(self) -> Iterable[psutil.Process]:
        import psutil

        me = os.getpid()
        for process in psutil.process_iter():
            try:
                if process.pid == me:
                    if self._ours:
                        yield from process.children(recursive=True)
                elif process.pid in self._roots or process.environ().get(MARK_VARIABLE) == self.mark:
                    yield process
                    yield from process.children(recursive=True)
            except (psutil.Error, OSError):
                continue


def _is_alive(process: psutil.Process) -> bool:
    import psutil  # type: ignore[import-untyped]

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _signal(processes: Iterable[psutil.Process], *, kill: bool) -> None:
    import psutil  # type: ignore[import-untyped]

    for process in processes:
        with suppress(psutil.Error):
            process.kill() if kill else process.terminate()


def was_launched(pid: int) -> bool:
    """Whether a process of this machine descends from one that an adapter has launched.

    Through a forwarded port the number may be that of a process elsewhere.
    """
    import psutil

    try:
        return MARK_VARIABLE in psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return False


async def end_process(pid: int) -> None:
    """End a process that was attached to, with its children."""
    launched_processes = LaunchedProcesses(ours=False)
    launched_processes.add(pid)
    await launched_processes.end()
