"""Show other processes what this one compiles, in memory that they find in /proc (Linux), and read what others show.

Writing takes a microsecond, and no thread, lock or file; the memory ends with the process. Each part is its length, a
checksum and JSON, so that a reader knows a part that is half written, and reads it again. `start` and the times below
`Standing` are those of Linux's monotonic clock, which all processes share; the others are seconds since `start`. None
counts the time in which a debugger stopped the thread.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from dynascope.encodable import encoded
from dynascope.facts import checked_memory


class Process(Struct, array_like=True):
    """A process that records; `program` is "" until it imports torch."""

    pid: int
    program: str = ""
    rank: int | None = None
    ended: int = 0
    """How many compiles have ended."""
    latest: str = ""
    """The compile that ended last: `Model.forward [0/1]`."""
    latest_at: float = 0.0


class CompileInProgress(Struct, array_like=True):
    """A compile in progress, or what torch compiles later for one that has ended: its backward, its kernels."""

    compile_id: str
    function: str
    """The compiled function; `path` and `line` are of its first line."""
    path: str
    line: int
    resumes_at: int | None = None
    is_later: bool = False
    """Whether that compile has ended, and this is its backward or its kernels."""
    start: float = 0.0
    thread: str = ""
    attempt: int = 1
    backend: str = ""
    """The backend that compiles its graph, or has compiled one."""
    phases: list[tuple[str, float]] = field(default_factory=list)
    """torch's phases that have begun and not ended, the outermost first, each with when it began."""
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds in each phase itself, without the phases within it; "" has the seconds outside of all phases."""
    charged: float = 0.0
    """The time up to which `spent` has every second; later seconds belong to the innermost phase."""


class TracingPlace(Struct, array_like=True):
    """Where Dynamo traces: the innermost line in the user's own code; `since` is when it began this line."""

    path: str
    line: int
    function: str
    since: float
    library: tuple[str, int, str, float] | None = None
    """Path, line, function and start of the innermost line, where it is in a library that the user's line calls."""


class Standing(Struct, array_like=True):
    """How long a debugger has stopped the thread, and since when it does now."""

    seconds: float = 0.0
    since: float | None = None


NAME = "dynascope-compiles"
"""The name of the memory: its link in /proc/PID/fd."""
SLOTS = 16
"""Compiles that are shown at once: one for each thread that compiles, and those within another."""
PROCESS_BYTES = 4096
SLOT_BYTES = 12288
PARTS: dict[type[msgspec.Struct], tuple[int, int]] = {
    CompileInProgress: (0, 8192),
    TracingPlace: (8192, 3840),
    Standing: (12032, 256),
}
"""Offset and size of the parts of a slot."""

_encoder = msgspec.json.Encoder()


class Board:
    """The memory of this process; while there is none, or where it cannot be had, all calls do nothing."""

    def __init__(self) -> None:
        self._memory: mmap.mmap | None = None
        self._free: list[int] = []
        self._process = Process(os.getpid())

    def open(self) -> None:
        """Show this process from now on. A forked child opens a memory of its own."""
        self.close()
        if self._process.pid != os.getpid():
            self._process = Process(os.getpid(), self._process.program, self._process.rank)
        size = PROCESS_BYTES + SLOTS * SLOT_BYTES
        try:
            number = os.memfd_create(NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            try:
                os.ftruncate(number, size)
                fcntl.fcntl(number, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
                self._memory = mmap.mmap(number, size)  # which has a copy of the number
            finally:
                os.close(number)
        except (OSError, AttributeError):  # AttributeError: not on Linux
            pass
        self._free = list(range(SLOTS - 1, -1, -1))
        self._tell()

    def close(self) -> None:
        """Show nothing any more, also of compiles in progress."""
        if self._memory is not None:
            self._memory.close()
        self._memory = None

    def program(self, text: str, rank: int | None) -> None:
        """Show the command line of this process."""
        self._process.program, self._process.rank = text, rank
        self._tell()

    def ended(self, compile: str, at: float) -> None:
        """Show that a compile has ended."""
        self._process.ended += 1
        self._process.latest, self._process.latest_at = compile, at
        self._tell()

    def _tell(self) -> None:
        _write(self._memory, 0, PROCESS_BYTES, self._process)

    def slot(self) -> Slot:
        """Return the place of one compile; where there is none left, it is not shown."""
        try:
            return Slot(self._memory, self._free, self._free.pop())
        except IndexError:
            return Slot(None, self._free, 0)


class Slot:
    """The place of one compile, which its thread writes until it closes it."""

    def __init__(self, memory: mmap.mmap | None, free: list[int], number: int) -> None:
        self._memory = memory
        self._free = free
        self._number = number
        self._offset = PROCESS_BYTES + number * SLOT_BYTES

    def write(self, part: CompileInProgress | TracingPlace | Standing) -> None:
        """Replace the part of this type."""
        offset, size = PARTS[type(part)]
        _write(self._memory, self._offset + offset, size, part)

    def clear(self, kind: type[CompileInProgress | TracingPlace | Standing]) -> None:
        """Remove the part of this type."""
        offset, size = PARTS[kind]
        _write(self._memory, self._offset + offset, size, None)

    def close(self) -> None:
        """Show this compile no more."""
        for kind in (CompileInProgress, TracingPlace, Standing):
            self.clear(kind)
        if self._memory is not None:
            self._memory = None
            self._free.append(self._number)


def _write(memory: mmap.mmap | None, offset: int, size: int, value: msgspec.Struct | None) -> None:
    if memory is None or memory.closed:  # closed in a forked child, which does not go on with its parent's compiles
        return
    checked_memory.write(memory, offset, size, encoded(_encoder.encode, value) if value is not None else b"")


_READS = 1_000
"""How often it is read again where a part is half written, which lasts for less than a microsecond."""
S = TypeVar("S", bound=Struct)


class CompileSeen(Struct):
    """A compile at the moment at which it was read; times are seconds until then."""

    compile: CompileInProgress
    place: TracingPlace | None
    """Where Dynamo traces; None before it does and after it has."""
    stopped: float | None
    """For how long a debugger has stopped the thread; None where it runs."""
    now: float
    """The moment, in the compile's own time."""

    def since(self, began: float) -> float:
        """Return the time since a moment of the compile."""
        return max(0.0, self.now - began)

    def spent(self) -> dict[str, float]:
        """Return the seconds in each phase itself until now."""
        innermost = self.compile.phases[-1][0] if self.compile.phases else ""
        spent = dict(self.compile.spent)
        spent[innermost] = spent.get(innermost, 0.0) + self.since(self.compile.charged)
        return spent


class ProcessSeen(Struct):
    """A process that records, and its compiles in progress, the outermost first."""

    pid: int
    """Its number as this process sees it: inside of a container it may have another."""
    process: Process
    compiles: list[CompileSeen]


def read(pid: int) -> ProcessSeen | None:
    """Return what a process shows; None: nothing. Raises PermissionError for another user's."""
    for _ in range(_READS):
        try:
            for memory in _memories(pid):
                process = _part(memory, 0, Process)
                if process is not None and process.pid in _numbers(pid):
                    return ProcessSeen(pid, process, sorted(_seen(memory), key=lambda each: each.compile.start))
            return None
        except checked_memory.HalfWritten:
            pass
    return None


def _memories(pid: int) -> Iterator[bytes]:
    folder = Path("/proc", str(pid), "fd")
    try:
        for link in folder.iterdir():
            try:
                if os.readlink(link).removeprefix("/memfd:").startswith(NAME):
                    yield link.read_bytes()
            except FileNotFoundError:
                pass  # closed since
    except (FileNotFoundError, ProcessLookupError):
        pass  # ended since


def _numbers(pid: int) -> list[int]:
    """Return the numbers of a process, in each namespace that it is in."""
    try:
        rows = Path("/proc", str(pid), "status").read_text().splitlines()
    except OSError:
        return [pid]
    return next((list(map(int, row.split()[1:])) for row in rows if row.startswith("NSpid:")), [pid])


def _seen(memory: bytes) -> Iterator[CompileSeen]:
    for number in range(SLOTS):
        start = PROCESS_BYTES + number * SLOT_BYTES
        compile = _part(memory, start + PARTS[CompileInProgress][0], CompileInProgress)
        place = _part(memory, start + PARTS[TracingPlace][0], TracingPlace)
        if compile is not None:
            stood = _part(memory, start + PARTS[Standing][0], Standing) or Standing()
            at = stood.since if stood.since is not None else time.perf_counter()
            stopped = time.perf_counter() - at if stood.since is not None else None
            yield CompileSeen(compile, place, stopped, at - stood.seconds - compile.start)


def _part(memory: bytes, offset: int, kind: type[S]) -> S | None:
    data = checked_memory.read(memory, offset)
    return msgspec.json.decode(data, type=kind) if data else None
