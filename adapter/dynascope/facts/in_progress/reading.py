"""Find the processes that show their compiles, and read what they compile at this moment."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from dynascope.facts.in_progress.board import (
    HEADER,
    NAME,
    PARTS,
    PROCESS_BYTES,
    SLOT_BYTES,
    SLOTS,
    CompileInProgress,
    Process,
    Standing,
    TracingPlace,
)

_READS = 1_000
"""How often it is read again where a part is half written, which lasts for less than a microsecond."""
S = TypeVar("S", bound=Struct)


class _HalfWritten(Exception):
    """A part does not have its checksum."""


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
        except _HalfWritten:
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
    length, checksum = HEADER.unpack_from(memory, offset)
    data = memory[offset + HEADER.size : offset + HEADER.size + length]
    if zlib.crc32(data) != checksum:
        raise _HalfWritten
    return None if not length else msgspec.json.decode(data, type=kind)
