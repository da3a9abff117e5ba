"""Keep the newest compiled calls of functions, and leave them for ranks that ask why they part at run time."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from dynascope.agent.program.threads import fork_safe
from dynascope.agent.ranks.calls import TracedCall
from dynascope.facts.comparison.ranks import PartName, PartOfCall
from dynascope.facts.user_stack import UserFrame

_KEPT = 8
"""The most functions whose newest call is kept."""
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


class NewestCalls:
    """The newest compiled calls of this process. Any thread."""

    def __init__(self) -> None:
        self._lock = fork_safe(threading.RLock())
        self._calls: dict[PartName, TracedCall] = {}
        self._is_left = False

    def keep(self, call: TracedCall) -> None:
        """Keep a call in place of an earlier one of its function.

        Other parts of it may be compiled later.
        """
        name = call.parts[0].name
        with self._lock:
            self._calls.pop(name, None)
            self._calls[name] = call
            self._is_left = False
            if len(self._calls) > _KEPT:
                del self._calls[next(iter(self._calls))]

    def newest(self) -> list[NewestCall]:
        """Return the calls, the latest first."""
        with self._lock:
            calls = [*self._calls.values()]
        return [
            NewestCall(each.function.path, each.function.line, each.function.name, [*each.parts])
            for each in reversed(calls)
        ]

    def leave(self, store: Any, rank: int) -> None:
        """Leave them in the job's store, unless that was done before.

        Raises torch's DistError when the store does not answer.
        """
        if self._is_left:
            return
        self._is_left = True  # unless more is compiled from here on
        calls = self.newest()
        text = zlib.compress(_encode(calls))
        while calls and len(text) > _MOST_BYTES:
            calls.pop()
            text = zlib.compress(_encode(calls))
        store.set(_key(rank), text)


def newest_of(store: Any, rank: int) -> list[NewestCall]:
    """Return what another rank has left; torch's DistError when the store does not answer."""
    return _decode(zlib.decompress(store.get(_key(rank)))) if store.check([_key(rank)]) else []


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


def _key(rank: int) -> str:
    return f"newest/{rank}"
