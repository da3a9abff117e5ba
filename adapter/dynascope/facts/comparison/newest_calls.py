"""Pair the newest compiled calls of functions in two ranks, to explain what these call at run time."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from dynascope.facts.comparison.ranks import PartName, PartOfCall
from dynascope.facts.user_stack import UserFrame

_MOST_BYTES = 1 << 16
"""The most bytes that a rank leaves; the calls before are left out."""
_encode = msgspec.msgpack.Encoder(enc_hook=str).encode


class NewestCall(msgspec.Struct, array_like=True):
    """The newest call of a function for which it was compiled, or what follows a graph break of it alone."""

    path: str
    line: int
    function: str
    parts: list[PartOfCall]

    @property
    def name(self) -> PartName:
        """Return what it is a compile of, the same in all ranks."""
        return self.parts[0].name

    def is_at(self, frame: UserFrame) -> bool:
        """Whether a line is in the function, also in what follows a graph break, or calls it."""
        name = self.function.rpartition(".")[2]
        is_inside = frame.function == name or f"_in_{name}_at_" in frame.function
        is_caller = (frame.path, frame.line) == self.parts[0].called_at
        return is_caller or (is_inside and frame.path == self.path and frame.line >= self.line)


_decode = msgspec.msgpack.Decoder(list[NewestCall]).decode


def packed(calls: Sequence[NewestCall]) -> bytes:
    """Return calls as bytes, as many of the first as fit, for `unpacked`."""
    kept = [*calls]
    data = zlib.compress(_encode(kept))
    while kept and len(data) > _MOST_BYTES:
        kept.pop()
        data = zlib.compress(_encode(kept))
    return data


def unpacked(data: bytes) -> list[NewestCall]:
    """Return calls that were `packed`."""
    return _decode(zlib.decompress(data)) if data else []


class PairOfCalls(NamedTuple):
    """The newest calls of a function in two ranks."""

    ours: Sequence[PartOfCall]
    theirs: Sequence[PartOfCall]
    is_there: bool
    """Whether one of the lines that are asked about belongs to it."""


def pairs_at(
    ours: Sequence[NewestCall], theirs: Sequence[NewestCall], frames: Iterable[UserFrame]
) -> list[PairOfCalls]:
    """Return the newest calls of each function, first of those to which a line belongs."""
    lines, pairs = [*frames], []
    for name in dict.fromkeys(each.name for each in (*ours, *theirs)):
        our, their = _begun_at(ours, name), _begun_at(theirs, name)
        if our is not None and their is not None:
            calls = [each for each in (*ours, *theirs) if each.name == name]
            is_there = any(call.is_at(frame) for frame in lines for call in calls)
            pairs.append(PairOfCalls(our, their, is_there))
    return sorted(pairs, key=lambda pair: not pair.is_there)


def _begun_at(calls: Iterable[NewestCall], name: PartName) -> Sequence[PartOfCall] | None:
    """Return the newest compiles of a call from one of this name on; None without it."""
    for call in calls:
        names = [each.name for each in call.parts]
        if name in names:
            return call.parts[names.index(name) :]
    return None
