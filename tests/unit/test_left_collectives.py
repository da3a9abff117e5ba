"""Ranks of a job read the collectives of one rank of each side, and digests of the others."""

from __future__ import annotations

from collections import Counter

from dynascope.agent.ranks.left_collectives import LeftCollectives
from dynascope.facts.comparison.called import Called, CalledInGroup

RANKS = 8


class CountedStore:
    """A store in this process that counts how often each key is read."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self.reads: Counter[str] = Counter()

    def set(self, key: str, value: bytes) -> None:
        self._values[key] = value

    def check(self, keys: list[str]) -> bool:
        return all(key in self._values for key in keys)

    def get(self, key: str) -> bytes:
        self.reads[key] += 1
        return self._values[key]


def calls(*takes: str) -> CalledInGroup:
    """Return the `all_reduce`s of one process group that take these tensors."""
    made = [Called(("gloo", 0, number), number, "all_reduce(sum)", each, ()) for number, each in enumerate(takes)]
    return CalledInGroup(True, made)


def test_ranks_that_are_alike_are_read_once() -> None:
    store = CountedStore()
    ours, theirs, inner = calls("f32[4]", "f32[8]"), calls("f32[4]", "i64[2]"), calls("f32[2]")
    left = {rank: LeftCollectives(store, rank) for rank in range(RANKS)}
    for rank, each in left.items():
        if rank != 5:  # it has not waited yet
            each.leave({"world": theirs if rank % 2 else ours, f"inner {rank // 4}": inner})
    store.reads.clear()
    assert left[0].read(range(1, RANKS), ["world"]) == {
        rank: {} if rank == 5 else {"world": theirs if rank % 2 else ours} for rank in range(1, RANKS)
    }
    records = [key for key in store.reads if key.count("/") == 2]
    assert records == ["called/1/world"] and store.reads[records[0]] == 1
    assert left[0].read([6], ["inner 1", "world"]) == {6: {"world": ours, "inner 1": inner}}


def test_a_comparison_reads_anew() -> None:
    store = CountedStore()
    first, second = LeftCollectives(store, 0), LeftCollectives(store, 1)
    first.leave({"world": calls("f32[4]")})
    second.leave({"world": calls("f32[8]")})
    assert first.read([1], ["world"]) == {1: {"world": calls("f32[8]")}}
    second.leave({"world": calls("f32[8]", "f32[2]")})
    first.leave({"world": calls("f32[4]")})
    assert first.read([1], ["world"]) == {1: {"world": calls("f32[8]", "f32[2]")}}
