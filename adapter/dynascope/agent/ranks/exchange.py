"""Exchange digests with the other ranks of a job, on the store on which they met.

For each collective of a call the first rank to come leaves a digest of all up to it, and each later one compares its
own; a rank that comes first leaves its compiles before, by which both can be told apart. So each rank asks once for
each of its collectives and three times for each process group, and has no thread: one inside a TCPStore (torch 1.0)
when the interpreter ends would abort the program. Before each comparison the store has to answer within `SECONDS`.
"""

from __future__ import annotations

import time
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec

from dynascope.agent.internals.process_groups import JobStore
from dynascope.agent.ranks.called_partings import members_of
from dynascope.agent.ranks.calls import TracedCall
from dynascope.agent.ranks.newest_calls import newest_of
from dynascope.facts.comparison.ranks import (
    PartOfCall,
    decisions,
    in_backward,
    is_reordered,
    of_inputs,
    process_group,
    running,
)
from dynascope.facts.model import Divergence

SECONDS = timedelta(seconds=10)
_MOST_RANKS = 64
"""The most other ranks that are asked, when ranks part, on whose side they are."""
_MOST_BYTES = 1 << 18
"""The largest record of the compiles of one call, in bytes; a larger one is not stored, and no value is reported."""
_CALLS_LEFT = 4
"""The number of calls whose compiles stay in the store; those of older calls are deleted."""
PARTED = "parted"
"""The prefix of a key, before the name of a process group: it is set once its ranks are known to part."""
_encode = msgspec.msgpack.Encoder(enc_hook=str).encode


class LeftCall(msgspec.Struct, array_like=True):
    """The record of a call that a rank stores for other ranks."""

    parts: list[PartOfCall]
    earlier: dict[str, list[list[str]]]
    """The collectives of the function's earlier calls, by process group."""


_decode = msgspec.msgpack.Decoder(LeftCall).decode
_decode_divergence = msgspec.msgpack.Decoder(Divergence).decode


class Disagreement(NamedTuple):
    """A difference between this rank's compiles of a call and those of another rank."""

    rank: int
    group: str
    collective: int | None
    """The number of the first collective that differs; None where only their order, or what is computed, does."""
    is_reordered: bool = False
    """Whether both call the same collectives with other tensors in them."""
    gradients: tuple[list[str], list[str]] = ([], [])
    """The parameters that this rank alone uses, and the parameters that the other rank alone uses."""

    @property
    def is_of_collectives(self) -> bool:
        """Whether the ranks call other collectives, DistributedDataParallel's included."""
        return self.collective is not None or any(self.gradients)


def connected(job: JobStore, launch: str) -> Any:
    """Return a new connection to the store of a job, each of whose waits has a limit."""
    from torch.distributed import PrefixStore, TCPStore  # not every torch is built with them

    # a client of its own: a clone in the rank that has the server would keep the server's port open
    store = TCPStore(job.host, job.port, None, False, timeout=SECONDS, wait_for_workers=False)
    return PrefixStore(f"dynascope/{launch}", store)


class Exchange:
    """The connection of this process to the store of its job; each method raises torch's DistError when that fails."""

    def __init__(self, job: JobStore, launch: str) -> None:
        """Connect; `launch` distinguishes the restarts of a job."""
        self.rank, self.groups = job.rank, job.groups
        self._store = connected(job, launch)
        self._store.set(self._alive, b"")
        self._left_calls: deque[str] = deque()
        self._told: dict[str, dict[str, str]] = {}

    @property
    def _alive(self) -> str:
        return f"alive/{self.rank}"

    def members(self, group: str) -> str:
        """Return the ranks of a process group; "" where this rank has one group alone."""
        return members_of(process_group(group), self.groups)

    def _compared_groups(self, call: TracedCall) -> list[str]:
        """Return the process groups, and those in whose backward the call has collectives."""
        backward = (in_backward(group) for group in self.groups)
        return [*self.groups, *(group for group in backward if call.collectives(group))]

    def compare(self, call: TracedCall) -> Iterator[Disagreement]:
        """Leave what is known of a call, and yield how it differs from what others have left."""
        self._store.wait([self._alive], SECONDS)  # the questions below have no time-out of their own
        if call.number and self._store.check([_apart(call)]):
            return
        computed = decisions(call.parts) if call.is_over else ""
        self._told = {group: self._texts(call, group, computed) for group in self._compared_groups(call)}
        self._store.set(f"{_name(call)}/side/{self.rank}", self._side())
        latest = [[*told][-1] for told in self._told.values() if told]
        if any(not self._store.check([key]) for key in latest):
            self._leave(call)
        for group, told in self._told.items():
            yield from (each for each in self._compared(call, group, told) if each.rank != self.rank)

    def _leave(self, call: TracedCall) -> None:
        earlier = {group: call.earlier_texts(group) for group in self.groups}
        packed = zlib.compress(_encode(LeftCall(call.parts, earlier)))
        if len(packed) > _MOST_BYTES:
            packed = zlib.compress(_encode(LeftCall([], earlier)))
        key = f"{_name(call)}/compiles/{self.rank}"
        self._store.set(key, packed)
        if key not in self._left_calls:
            self._left_calls.append(key)
        if len(self._left_calls) > _CALLS_LEFT:
            self._store.delete_key(self._left_calls.popleft())

    def _texts(self, call: TracedCall, group: str, computed: str) -> dict[str, str]:
        """Return by key what is left: a digest for each collective, and for the end."""
        name, collectives = f"{_name(call)}/{group}", call.collectives(group)
        told = {f"{name}/{number}": digest for number, digest in enumerate(running(collectives))}
        if call.is_over:
            of_all = [each for part in call.parts for each in part.collectives]
            gradients = ",".join(sorted(call.gradients.get(group, ())))
            told[f"{name}/end"] = "\0".join(
                [str(len(collectives)), *of_inputs(collectives, of_all), computed, gradients]
            )
        return told

    def _compared(self, call: TracedCall, group: str, told: dict[str, str]) -> Iterator[Disagreement]:
        count, name = len(call.collectives(group)), f"{_name(call)}/{group}"
        for key, text in told.items():
            theirs, rank = self._first(key, text)
            if theirs == text:
                continue
            number = key.rpartition("/")[2]
            yield (
                self._at_the_end(rank, group, text, theirs)
                if number == "end"
                else Disagreement(rank, group, int(number))
            )
            return
        beyond = f"{name}/{count}" if call.is_over else f"{name}/end"
        if self._store.check([beyond]):
            theirs, rank = _parted(self._store.get(beyond))
            if call.is_over or int(theirs.partition("\0")[0]) < count:
                yield Disagreement(rank, group, count if call.is_over else int(theirs.partition("\0")[0]))

    def _at_the_end(self, rank: int, group: str, ours: str, theirs: str) -> Disagreement:
        (count, order, inputs, _, used), (their_count, their_order, their_inputs, _, their_used) = (
            each.split("\0") for each in (ours, theirs)
        )
        if count != their_count:
            return Disagreement(rank, group, min(int(count), int(their_count)))
        if used != their_used:
            our_set, their_set = ({*each.split(",")} - {""} for each in (used, their_used))
            if not (our_set and their_set):  # one does not synchronize now, and may do so later
                return Disagreement(rank, group, None)
            return Disagreement(rank, group, None, gradients=(sorted(our_set - their_set), sorted(their_set - our_set)))
        return Disagreement(rank, group, None, is_reordered=is_reordered((order, inputs), (their_order, their_inputs)))

    def _first(self, key: str, text: str) -> tuple[str, int]:
        """Return what is at a key, and which rank left it; leave `text` where there is nothing."""
        return _parted(self._store.compare_set(key, "", f"{text}\0{self.rank}"))

    def left_by(self, call: TracedCall, rank: int) -> LeftCall:
        """Return what another rank has left of the call."""
        key = f"{_name(call)}/compiles/{rank}"
        if not self._store.check([key]):
            return LeftCall([], {})
        return _decode(zlib.decompress(self._store.get(key)))

    def number_apart(self, call: TracedCall) -> None:
        """Leave word that ranks number the calls of this function in different ways."""
        self._store.set(_apart(call), b"")

    def is_alone(self, call: TracedCall, group: str, seconds: float) -> bool:
        """Whether no other rank of a group compiles this call for so many seconds."""
        keys = [f"{_name(call)}/side/{rank}" for rank in self._others(group)]
        ends = time.monotonic() + seconds
        while not any(self._store.check([key]) for key in keys):
            if self._store.check([_apart(call)]):
                return False
            if time.monotonic() > ends:
                return True
            time.sleep(0.2)  # in Python, so that the program's signal handlers run
        return False

    def earlier_of_another(self, call: TracedCall, group: str) -> tuple[int, Sequence[PartOfCall]] | None:
        """Return another rank, with its newest compiles of the call before this one.

        None where no rank of a group has left them, as those do that wait.
        """
        texts = [each.text for each in call.earlier[-1]] if call.earlier else []
        for rank in self._others(group):
            for each in newest_of(self._store, rank):
                called = [one.text for part in each.parts for one in part.collectives]
                if each.name == call.parts[0].name and called == texts:
                    return rank, each.parts
        return None

    def tells(self, call: TracedCall, group: str, what: str) -> bool:
        """Whether this rank is the first that tells it of a call, of a process group or of all ("")."""
        return self._first(f"{_name(call)}/{group}/told/{what}", "")[1] == self.rank

    def leave_divergence(self, call: TracedCall, group: str, found: Divergence) -> None:
        """Leave a difference for ranks of a group that compile this call later."""
        self._store.set(f"{_name(call)}/{group}/parts", _encode(found))
        self.leave_parted(group)

    def leave_parted(self, group: str) -> None:
        """Leave word that the ranks of a group part, so that it is not told again where they wait."""
        self._store.set(f"{PARTED}/{process_group(group)}", b"")

    def divergence(self, call: TracedCall) -> Divergence | None:
        """Return what another rank has found of this call, in a group of both."""
        if call.number and self._store.check([_apart(call)]):
            return None
        keys = (f"{_name(call)}/{group}/parts" for group in self._compared_groups(call))
        return next((_decode_divergence(self._store.get(key)) for key in keys if self._store.check([key])), None)

    def sides(self, call: TracedCall, other: int, group: str, seconds: float = 0.0) -> tuple[list[int], list[int]]:
        """Return the ranks that compile what this one does, and what `other` does.

        Others may still trace the call: they are waited for so many seconds.
        """
        ends = time.monotonic() + seconds
        while True:
            ours, theirs = self._sides_now(call, other, group)
            if len(ours) + len(theirs) > len(self._others(group)) or time.monotonic() > ends:
                return ours, theirs
            time.sleep(0.1)  # in Python, so that the program's signal handlers run

    def _sides_now(self, call: TracedCall, other: int, group: str) -> tuple[list[int], list[int]]:
        ours, theirs = [self.rank], [other]
        their_side = self._side_of(call, other)
        for rank in self._others(group):
            side = None if rank == other else self._side_of(call, rank)
            if side == self._side():
                ours.append(rank)
            elif side is not None and side == their_side:
                theirs.append(rank)
        return sorted(ours), sorted(theirs)

    def _side_of(self, call: TracedCall, rank: int) -> str | None:
        key = f"{_name(call)}/side/{rank}"
        return self._store.get(key).decode() if self._store.check([key]) else None

    def _side(self) -> str:
        return "\0".join("\0".join(told.values()) for told in self._told.values())

    def _others(self, group: str) -> Sequence[int]:
        return [rank for rank in self.groups[process_group(group)] if rank != self.rank][:_MOST_RANKS]


def _of_function(call: TracedCall) -> str:
    function = call.function
    return f"{function.path.rpartition('/')[2]}:{function.line}:{function.name}:{function.called_at}"


def _name(call: TracedCall) -> str:
    return f"{_of_function(call)}#{call.number}"


def _apart(call: TracedCall) -> str:
    return f"{_of_function(call)}/apart"


def _parted(value: bytes) -> tuple[str, int]:
    text, _, rank = value.decode().rpartition("\0")
    return text, int(rank)
