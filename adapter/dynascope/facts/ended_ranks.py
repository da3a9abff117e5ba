"""Keep in files the collectives that the ranks of a launch call, for its first process to read when they have ended.

gloo ends a process at once where the sizes of a collective differ, and a launcher then ends the others. So each
collective is written when it begins, into memory that a file keeps. A rank that ends by itself writes more.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field, structs

from dynascope import processes
from dynascope.facts import checked_memory, store
from dynascope.facts.comparison.called import Called, CalledInGroup
from dynascope.facts.comparison.newest_calls import NewestCall, decode_call, encode_call, whole_calls
from dynascope.facts.comparison.peer_exchanges import EXCHANGES
from dynascope.facts.comparison.plain_branch import ValuesAt
from dynascope.facts.launches import LAUNCH_VARIABLE

_RESTARTS_VARIABLE = "TORCHELASTIC_RESTART_COUNT"
_SLOT = 4096
"""The bytes for a collective."""
_SLOTS = 64
"""The number of the latest collectives that are kept."""
_VALUES = 32768
"""The bytes for the values that are read as one of them begins."""
_KEPT_VALUES = 16
"""The number of the latest collectives of which values are kept."""
_COMPILED = struct.Struct("<I?")
"""The length of a compile, and whether it is the first of its call."""
_MOST_COMPILED = 8 << 20
"""The size of the file of compiles, in bytes, at which it is begun anew."""
_VALUES_AT = _SLOT * (1 + _SLOTS)
_REDUCTION_AT = _VALUES_AT + _KEPT_VALUES * _VALUES
_TOLD = "told"
_PREFIX = "ranks-"
_SECONDS_LEFT = 7 * 24 * 3600.0


class RankProcess(Struct, array_like=True):
    """A rank of a job, and its process."""

    rank: int
    pid: int
    groups: dict[str, tuple[int, ...]] = {}
    """The ranks of its process groups, by name."""


EndError = Literal["", "collective", "other"]


class EndedRank(Struct, array_like=True):
    """A rank that has ended, and what it has left."""

    rank: RankProcess
    calls: dict[str, CalledInGroup] = field(default_factory=dict)
    """Its latest collectives, by process group."""
    newest: bytes = b""
    """Its newest compiled calls (`newest_calls.packed`)."""
    values: list[ValuesAt] = []
    """The values that plain Python reads at its latest collectives, and where it has failed."""
    error: EndError = ""
    """The kind of the error that has ended it: `collective` for one of gloo or of DistributedDataParallel."""
    has_ended: bool = False
    """Whether it has come to the end of its program, without an error."""
    reduction: tuple[str, Called] | None = None
    """The process group and the all-reduce that DistributedDataParallel was to call next, or None."""


_encode = msgspec.msgpack.Encoder().encode
_decode_call = msgspec.msgpack.Decoder(tuple[int, str, Called]).decode
_decode_values = msgspec.msgpack.Decoder(ValuesAt).decode
_decode_rank = msgspec.msgpack.Decoder(RankProcess).decode
_decode_end = msgspec.msgpack.Decoder(EndedRank).decode


def folder_of_launch() -> Path | None:
    """Return the folder for the ranks of this process's launch, or None.

    None in a process that is not recorded.
    """
    launch, facts = os.environ.get(LAUNCH_VARIABLE), os.environ.get(store.FOLDER_VARIABLE)
    if not launch or not facts:
        return None
    return Path(facts) / f"{_PREFIX}{hashlib.blake2b(launch.encode(), digest_size=8).hexdigest()}"


class RankFile:
    """The collectives of this rank, which outlive it. Not for concurrent use."""

    def __init__(self, folder: Path, rank: RankProcess) -> None:
        """Create its file in the folder of the launch. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._rank = rank
        self._path = folder / f"{os.environ.get(_RESTARTS_VARIABLE, '0')}-{rank.rank}"
        self._count = 0
        self._values = 0
        size = _REDUCTION_AT + _SLOT
        number = os.open(self._path.with_suffix(".calls"), os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(number, 0, size)  # a disk that is full is found out here, and ends no process later
            self._memory = mmap.mmap(number, size)
        finally:
            os.close(number)
        checked_memory.write(self._memory, 0, _SLOT, _encode(rank))

    def add(self, group: str, called: Called) -> None:
        """Write a collective of a process group before it begins, in place of the oldest."""
        data = _encode((self._count, group, called))
        if len(data) > _SLOT - checked_memory.HEADER.size:
            data = _encode((self._count, group, structs.replace(called, stack=called.stack[-1:])))
        checked_memory.write(self._memory, _SLOT * (1 + self._count % _SLOTS), _SLOT, data)
        self._count += 1

    def reduces(self, group: str, called: Called) -> None:
        """Write what DistributedDataParallel reduces after the collective that was written last."""
        checked_memory.write(self._memory, _REDUCTION_AT, _SLOT, _encode((self._count, group, called)))

    def values(self, values: ValuesAt) -> None:
        """Write the values that the code reads at the collective that was written last."""
        at = _VALUES_AT + self._values % _KEPT_VALUES * _VALUES
        data, frames = _encode(values), values.frames
        while len(data) > _VALUES - checked_memory.HEADER.size and len(frames) > 1:
            frames = frames[: len(frames) // 2]
            data = _encode(structs.replace(values, frames=frames))
        checked_memory.write(self._memory, at, _VALUES, data)
        self._values += 1

    def compiled(self, made: NewestCall, begins: bool) -> None:
        """Add a compile to the files. Raises OSError.

        `begins` is whether it is the first of its call.
        """
        data = encode_call(made)
        path = self._path.with_suffix(".compiled")
        is_full = path.exists() and path.stat().st_size > _MOST_COMPILED
        with path.open("wb" if is_full else "ab") as file:
            file.write(_COMPILED.pack(len(data), begins) + data)

    def end(self, ended: EndedRank) -> None:
        """Write what is known at the end of the rank. Raises OSError."""
        temporary = self._path.with_suffix(".tmp")
        temporary.write_bytes(_encode(ended))
        temporary.rename(self._path.with_suffix(".end"))


def note_told(folder: Path) -> None:
    """Note that a rank has told where the ranks of the launch part."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / _TOLD).touch(0o600)


def read_ended(folder: Path) -> list[EndedRank]:
    """Return the ranks that have ended since the last restart.

    None of them where a rank has told that ranks part.
    """
    if (folder / _TOLD).exists():
        return []
    names = {path.stem for path in folder.glob("*-*")}
    last = max((int(name.partition("-")[0]) for name in names), default=0)
    ranks = [_read(folder / name) for name in names if name.startswith(f"{last}-")]
    return sorted((each for each in ranks if each is not None), key=lambda each: each.rank.rank)


def remove(folder: Path) -> None:
    """Remove the files of a launch, and old ones of launches whose first process was killed."""
    shutil.rmtree(folder, ignore_errors=True)
    for left in folder.parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _SECONDS_LEFT:
                shutil.rmtree(left, ignore_errors=True)


def _read(path: Path) -> EndedRank | None:
    """Return what a rank has left; None where it runs, or its files cannot be read."""
    with suppress(OSError, msgspec.MsgspecError, checked_memory.HalfWritten):
        end = path.with_suffix(".end")
        ended = _decode_end(end.read_bytes()) if end.exists() else _cut_short(path.with_suffix(".calls").read_bytes())
        return None if processes.exists(ended.rank.pid) else ended
    return None


def compiled_by(folder: Path, rank: int) -> list[NewestCall]:
    """Return the newest call of each function in a rank that has ended, the newest first."""
    calls: dict[tuple[str, int, str], list[NewestCall]] = {}
    for path in sorted(folder.glob(f"*-{rank}.compiled"))[-1:]:
        with suppress(OSError, msgspec.MsgspecError, struct.error):
            for made, begins in _compiles(path.read_bytes()):
                of_function = calls.setdefault((made.path, made.line, made.function), [])
                if begins or not of_function:
                    of_function.append(made)
                else:
                    of_function[-1].parts += made.parts
                    of_function[-1].gradients |= made.gradients
    found = [each for of_function in calls.values() for each in _numbered(of_function)]
    newest = {each.name: each for each in found}
    return whole_calls(sorted(newest.values(), key=lambda each: each.parts[-1].compile.began))


def _numbered(calls: Sequence[NewestCall]) -> Iterator[NewestCall]:
    """Yield calls of a function, each with the collectives of those before it."""
    before: list[list[str]] = []
    for call in calls:
        yield structs.replace(call, before=[*before])
        before.append([each.text for part in call.parts for each in part.collectives])


def _compiles(data: bytes) -> Iterator[tuple[NewestCall, bool]]:
    """Yield compiles, and whether each is the first of its call, up to one that is not whole."""
    at = 0
    while at < len(data):
        length, begins = _COMPILED.unpack_from(data, at)
        at += _COMPILED.size + length
        yield decode_call(data[at - length : at]), begins


def _cut_short(memory: bytes) -> EndedRank:
    """Return what a rank has left that was ended from outside."""
    parts = [*filter(None, (_part(memory, _SLOT * number) for number in range(1, _SLOTS + 1)))]
    values = filter(None, (_part(memory, _VALUES_AT + number * _VALUES) for number in range(_KEPT_VALUES)))
    count = max((_decode_call(part)[0] + 1 for part in parts), default=0)
    reduced = _decode_call(found) if (found := _part(memory, _REDUCTION_AT)) else None
    return EndedRank(
        _decode_rank(checked_memory.read(memory, 0)),
        _by_group(parts),
        values=[*map(_decode_values, values)],
        reduction=reduced[1:] if reduced is not None and reduced[0] == count else None,
    )


def _part(memory: bytes, offset: int) -> bytes:
    try:
        return checked_memory.read(memory, offset)
    except checked_memory.HalfWritten:
        return b""


def _by_group(parts: Iterable[bytes]) -> dict[str, CalledInGroup]:
    groups: dict[str, CalledInGroup] = {}
    for _, group, called in sorted(map(_decode_call, parts), key=lambda part: part[0]):
        groups.setdefault(group, CalledInGroup(group != EXCHANGES, [])).calls.append(called)
    return groups
