"""Find the processes that the user asks for, with their children; say why one cannot be shown, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from dynascope.facts.in_progress import ProcessSeen, read

_NOT_RECORDED = (
    "{named} is not recorded, so what it compiles is not known. Start it with `dynascope run`, or with "
    "DYNASCOPE_RECORD=1 in its environment. While it runs, a debugger can attach to it (`processId`) and pause it; "
    "compiles that begin after that are shown here, too."
)


class NotShown(Exception):
    """There is nothing to show of a process that was asked for; the text is for the user."""


def processes(pids: Sequence[int]) -> list[ProcessSeen]:
    """Return these processes and their children; without any, all of the user's.

    Those that are not recorded are left out. Raises NotShown.
    """
    if not pids:
        return _recorded(psutil.process_iter())
    found: dict[int, ProcessSeen] = {}
    for pid in pids:
        found.update((each.pid, each) for each in _with_children(pid))
    return list(found.values())


def _with_children(pid: int) -> list[ProcessSeen]:
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            raise NotShown(f"Process {pid} has ended.")
        named = f"Process {pid} ({' '.join(process.cmdline())[:80] or process.name()})"
        found = _recorded([process, *process.children(recursive=True)])
        owner = process.uids().effective
    except psutil.NoSuchProcess:
        raise NotShown(f"There is no process {pid}.") from None
    if found:
        return found
    if not Path("/proc", str(pid), "fd").exists():
        raise NotShown(f"{named} cannot be shown: only Linux tells what a process shows of its compiles.")
    try:
        maps = Path("/proc", str(pid), "maps").read_text()
    except OSError:
        raise NotShown(
            f"{named} cannot be looked into: the system does not allow it to you. It is of user {owner}."
        ) from None
    if not any(Path(line).name.startswith(("python", "libpython")) for line in maps.splitlines()):
        raise NotShown(f"{named} is not a Python program, and no process that it has started is recorded.")
    raise NotShown(_NOT_RECORDED.format(named=named))


def _recorded(processes: Iterable[psutil.Process]) -> list[ProcessSeen]:
    found = []
    for each in processes:
        try:
            seen = read(each.pid)
        except PermissionError:
            continue
        if seen is not None:
            found.append(seen)
    return sorted(found, key=lambda seen: (seen.process.rank is None, seen.process.rank or 0, seen.pid))
