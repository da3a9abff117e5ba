"""Leave the collectives of this rank in the job's store, and read those of others: ranks that are alike once.

A rank leaves a digest for each process group, and the collectives themselves at another key. So a job of thousands that
waits for one rank asks its store for digests, and for the collectives of one rank of each side.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from dynascope.facts.comparison.called import CalledInGroup
from dynascope.facts.comparison.plain_branch import ValuesAt

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(CalledInGroup).decode
_decode_values = msgspec.msgpack.Decoder(list[ValuesAt]).decode
_decode_digests = msgspec.msgpack.Decoder(dict[str, bytes]).decode


class LeftCollectives:
    """The collectives of the ranks of a job in its store; each method raises torch's DistError when that fails."""

    def __init__(self, store: Any, rank: int) -> None:
        """Take the store, and the number of this rank."""
        self._store, self._rank = store, rank
        self._known: dict[bytes, CalledInGroup] = {}
        """Those that were read for this comparison, by digest."""

    def leave(self, own: dict[str, CalledInGroup]) -> None:
        """Replace what this rank has left before, and begin a comparison."""
        encoded = {group: _encode(called) for group, called in own.items()}
        digests = {group: hashlib.blake2b(text, digest_size=12).digest() for group, text in encoded.items()}
        for group, text in encoded.items():
            self._store.set(f"called/{self._rank}/{group}", zlib.compress(text))
        self._store.set(f"called/{self._rank}", _encode(digests))  # when the collectives are there
        self._known = {digest: own[group] for group, digest in digests.items()}

    def leave_values(self, values: list[ValuesAt]) -> None:
        """Replace what plain Python reads in this rank that waits."""
        self._store.set(_of_values(self._rank), _encode(values))

    def values_of(self, rank: int) -> list[ValuesAt]:
        """Return what plain Python reads in another rank that waits."""
        key = _of_values(rank)
        return _decode_values(self._store.get(key)) if self._store.check([key]) else []

    def read(self, ranks: Iterable[int], groups: Iterable[str]) -> dict[int, dict[str, CalledInGroup]]:
        """Return what ranks have left of process groups, by rank.

        A rank that has not waited yet has left nothing.
        """
        wanted = {*groups}
        return {
            rank: {group: self._of(rank, group, at) for group, at in self._digests(rank).items() if group in wanted}
            for rank in ranks
        }

    def have_left(self, ranks: Sequence[int]) -> bool:
        """Whether all of some ranks have waited, and left what they have called."""
        return not ranks or bool(self._store.check([f"called/{rank}" for rank in ranks]))

    def _digests(self, rank: int) -> dict[str, bytes]:
        key = f"called/{rank}"
        return _decode_digests(self._store.get(key)) if self._store.check([key]) else {}

    def _of(self, rank: int, group: str, digest: bytes) -> CalledInGroup:
        if digest not in self._known:
            self._known[digest] = _decode(zlib.decompress(self._store.get(f"called/{rank}/{group}")))
        return self._known[digest]


def _of_values(rank: int) -> str:
    return f"values/{rank}"
