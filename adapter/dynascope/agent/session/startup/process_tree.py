"""Kills a program and its child processes when the debugger is gone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator


def end_with_children() -> None:
    """Kill every descendant, then this process: no debugger is left that could stop them."""
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os._exit(1)


def descendants(pid: int) -> list[int]:
    """Return process ids of all descendants of `pid`, parents first."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    processes = list(children.get(pid, ()))
    for process in processes:
        processes.extend(children.get(process, ()))
    return processes


def _parents() -> Iterator[tuple[int, int]]:
    """Yield (process id, parent's id) of every process."""
    if not os.path.isdir("/proc/self"):
        import psutil  # type: ignore[import-untyped]

        yield from ((process.pid, process.ppid()) for process in psutil.process_iter())
        return
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # the name in parentheses may contain any character, so fields count from its end
                yield int(name), int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
