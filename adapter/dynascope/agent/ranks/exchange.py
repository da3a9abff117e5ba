"""Exchange digests with the other ranks of a job, on the store on which they met.

For each collective of a call the first rank to come leaves a digest of all up to it, and each later one compares its
own; a rank that comes first leaves its parts before, by which both can be told apart. So each rank needs one question
for each of its collectives and three for a call, waits for none, and has no thread: one inside a TCPStore (torch 1.0)
when the interpreter ends would abort the program.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec
from torch.distributed import PrefixStore, TCPStore

from dynascope.agent.internals.process_groups import JobStore
from dynascope.agent.ranks.calls import TracedCall
from dynascope.facts.comparison.ranks import PartOfCall, decisions, of_inputs, running

_SECONDS = timedelta(seconds=10)
"""The most that an answer of the store may take. After that nothing is compared any more."""
_MOST_RANKS = 64
"""The most other ranks that are asked, when ranks part, on whose side they are."""
_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_decode_parts = msgspec.msgpack.Decoder(list[PartOfCall]).decode


class Disagreement(NamedTuple):
    """What another rank compiled of the same call, and how it differs."""

    rank: int
    group: str
    collective: int | None
    """The number of the first collective that differs; None where only their order, or what is computed, does."""
    is_reordered: bool = False
    """Whether both call the same collectives with other tensors in them."""
    gradients: tuple[list[str], list[str]] = ([], [])
    """The parameters that only this rank uses, and those that only the other one does."""

    @property
    def is_of_collectives(self) -> bool:
        """Whether the ranks call other collectives, DistributedDataParallel's included."""
        return self.collective is not None or any(self.gradients)


class Exchange:
    """The connection of this process to the store of its job; each method raises RuntimeError when that fails."""

    def __init__(self, job: JobStore, launch: str) -> None:
        """Connect; `launch` distinguishes the restarts of a job."""
        self.rank, self.groups = job.rank, job.groups
        # a client of its own: a clone in the rank that has the server would keep the server's port open
        store = TCPStore(job.host, job.port, None, False, timeout=_SECONDS, wait_for_workers=False)
        self._store: Any = PrefixStore(f"dynascope/{launch}", store)

    def compare(self, call: TracedCall) -> Iterator[Disagreement]:
        """Leave what is known of a call, and yield how it differs from what others have left."""
        self._store.set(f"{_name(call)}/side/{self.rank}", self._side(call))
        mine = {group: self._told(call, group) for group in self.groups}
        latest = [[*told][-1] for told in mine.values() if told]
        if any(not self._store.check([key]) for key in latest):
            self._store.set(f"{_name(call)}/parts/{self.rank}", zlib.compress(_encode(call.parts)))
        for group, told in mine.items():
            yield from self._compared(call, group, told)

    def _told(self, call: TracedCall, group: str) -> dict[str, str]:
        """Return by key what is left: a digest for each collective, and for the end."""
        name, collectives = f"{_name(call)}/{group}", call.collectives(group)
        told = {f"{name}/{number}": digest for number, digest in enumerate(running(collectives))}
        if call.is_over:
            gradients = ",".join(sorted(call.gradients.get(group, ())))
            parts = [str(len(collectives)), *of_inputs(collectives), decisions(call.parts), gradients]
            told[f"{name}/end"] = "\0".join(parts)
        return told

    def _compared(self, call: TracedCall, group: str, told: dict[str, str]) -> Iterator[Disagreement]:
        count, name = len(call.collectives(group)), f"{_name(call)}/{group}"
        for key, text in told.items():
            theirs, rank = self._left(key, text)
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
            return Disagreement(rank, group, None, gradients=(sorted(our_set - their_set), sorted(their_set - our_set)))
        return Disagreement(rank, group, None, is_reordered=inputs == their_inputs and order != their_order)

    def _left(self, key: str, text: str) -> tuple[str, int]:
        """Return what is at a key, and which rank left it; leave `text` where there is nothing."""
        return _parted(self._store.compare_set(key, "", f"{text}\0{self.rank}"))

    def parts_of(self, call: TracedCall, rank: int) -> list[PartOfCall]:
        """Return the compiles of the call that another rank has left."""
        key = f"{_name(call)}/parts/{rank}"
        self._store.wait([key], _SECONDS)
        return _decode_parts(zlib.decompress(self._store.get(key)))

    def is_alone(self, call: TracedCall, group: str, seconds: float) -> bool:
        """Whether no other rank of a group compiles this call for so many seconds."""
        keys = [f"{_name(call)}/side/{rank}" for rank in self._others(group)]
        if any(self._store.check([key]) for key in keys):
            return False
        with contextlib.suppress(RuntimeError):  # torch's DistStoreError: the time is over
            self._store.wait(keys[:1], timedelta(seconds=seconds))
        return not any(self._store.check([key]) for key in keys)

    def tells(self, call: TracedCall, what: str) -> bool:
        """Whether this rank is the first that tells it of a call."""
        _, rank = self._left(f"{_name(call)}/told/{what}", "")
        return rank == self.rank

    def sides(self, call: TracedCall, other: int, group: str) -> tuple[list[int], list[int]]:
        """Return the ranks that compile what this one does, and what `other` does."""
        ours, theirs = [self.rank], [other]
        key = f"{_name(call)}/side/{other}"
        their_side = self._store.get(key) if self._store.check([key]) else None
        for rank in self._others(group):
            key = f"{_name(call)}/side/{rank}"
            if rank == other or not self._store.check([key]):
                continue
            side = self._store.get(key)
            if side.decode() == self._side(call):
                ours.append(rank)
            elif side == their_side:
                theirs.append(rank)
        return sorted(ours), sorted(theirs)

    def _side(self, call: TracedCall) -> str:
        return "\0".join("\0".join(self._told(call, group).values()) for group in self.groups)

    def _others(self, group: str) -> Sequence[int]:
        return [rank for rank in self.groups[group] if rank != self.rank][:_MOST_RANKS]


def _name(call: TracedCall) -> str:
    function = call.function
    return f"{function.path.rpartition('/')[2]}:{function.line}:{function.name}#{call.number}"


def _parted(value: bytes) -> tuple[str, int]:
    text, _, rank = value.decode().rpartition("\0")
    return text, int(rank)
