"""Which ranks of a job compiled the same: their facts are stored once, and one rank is shown for all of them.

A writer compares the digest of a rank's compile with the digests that other ranks of the launch have stored. Where one
is equal, it stores only a row with the run and the times; the row's `content` is the number of the compile that has the
facts. A reader leaves out a run if another run has all of its contents; the other run is shown as `ranks 0-1023`.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct, structs

from dynascope.facts import model
from dynascope.facts.store import decoding

_MEASURED = {"began": 0.0, "seconds": 0.0, "backend_seconds": 0.0, "rank_wait_seconds": 0.0}
_WITH_TIMES = ("profile", "guard_costs", "line_times")
_LATER = "forms"
"""Made of the graph, which is compared."""
_UNMARKED = {"id": 0, "run": 0, "source": 0}
_encode = msgspec.json.Encoder().encode
_OF_PROCESS = re.compile(
    rb"(?<=__compiled_fn_)(?P<graph>\d+)_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}|\b0x[0-9a-f]{6,}"
    rb"|(?P<check>___check_(?:type_id|obj_id|fake_script_type)\([^\"]{1,999}?, )\d{9,}(?=\))"
    rb"|(?<=___check_metadata_)\d{9,}|(?<=___check_opaque_guard_fn_)\d{9,}"
    rb"|(?P<device>\b(?:cuda|xpu|hpu|npu):|\bdevice\(type='\w+', index=|, device=)(?P<index>\d+)(?!\d)"
)
"""The name that Dynamo gives to a compiled graph, addresses, the identities of objects and indices of devices."""


def digest_of(facts: model.CompileFacts, trails: Sequence[Any]) -> bytes:
    """Return a digest (16 bytes) of a compile, without times, addresses and storage offsets.

    Devices are told apart by the order in which they come: each rank has its own.
    """
    compared = {name: getattr(facts, name) for name in facts.__struct_fields__ if name not in (*_WITH_TIMES, _LATER)}
    compared["compile"] = structs.replace(facts.compile, **_UNMARKED, **_MEASURED)
    if facts.call is not None:  # each rank may have its own part of one tensor
        strides = [(name, strides, 0) for name, strides, _ in facts.call.layouts if strides]
        compared["call"] = structs.replace(facts.call, layouts=strides)
    compared["visits"] = [(each.path, each.line, each.visits) for each in facts.line_times]
    devices: dict[bytes, int] = {}

    def plain(found: re.Match[bytes]) -> bytes:
        if found["index"] is None:
            return found["graph"] or found["check"] or b""
        return found["device"] + b"%d" % devices.setdefault(found["index"], len(devices))

    return hashlib.blake2b(_OF_PROCESS.sub(plain, _encode([compared, trails])), digest_size=16).digest()


def equal_compile(connection: sqlite3.Connection, run: int, launch: str, digest: bytes) -> int | None:
    """Return the compile of another rank with this digest to which `run` does not refer yet."""
    found = connection.execute(
        "SELECT c.id FROM compile c JOIN run r ON r.id = c.run_id WHERE c.digest = ? AND r.launch = ? AND r.id != ? "
        "AND NOT EXISTS (SELECT 1 FROM compile WHERE run_id = ? AND content = c.id) ORDER BY c.id LIMIT 1",
        (digest, launch, run, run),
    ).fetchone()
    return found[0] if found else None


class Contents(Struct):
    """The compiles of a rank, as the numbers of their contents."""

    run: int
    rank: int
    launch: str
    contents: str
    """The numbers in ascending order, separated by spaces."""


class Alike(Struct):
    """The ranks in a store, and which of them are not shown, because another one is shown for them."""

    ranks: list[Contents]
    shown_by: dict[int, int]
    """The run that is shown, by a run that compiled nothing else."""

    def ranks_of_shown(self) -> dict[int, list[int]]:
        """Return, by the run that is shown for others, the ranks that compiled all that it did."""
        by_run = {each.run: each for each in self.ranks}
        found: dict[int, list[int]] = {}
        for run, by in self.shown_by.items():
            if by_run[run].contents == by_run[by].contents:
                found.setdefault(by, [by_run[by].rank]).append(by_run[run].rank)
        return {run: sorted(ranks) for run, ranks in found.items()}


def alike(connection: sqlite3.Connection) -> Alike:
    """Read which ranks compiled the same.

    The first rank of those that compiled most is shown for all that compiled nothing else, those that were killed, say.
    """
    # the index on both columns has all that is asked of 1,024 ranks
    rows = connection.execute(
        "SELECT r.id, r.rank, r.launch, coalesce(group_concat(c.content, ' '), '') FROM (SELECT run_id, content "
        "FROM compile WHERE run_id IN (SELECT id FROM run WHERE rank IS NOT NULL) ORDER BY run_id, content) c "
        "JOIN run r ON r.id = c.run_id GROUP BY r.id ORDER BY r.launch, r.rank, r.id"
    )
    with decoding():
        ranks = [Contents(*row) for row in rows]
        shown_by: dict[int, int] = {}
        for _, of_launch in groupby(ranks, lambda each: each.launch):
            shown_by |= _shown_by(list(of_launch))
    return Alike(ranks, shown_by)


def _shown_by(ranks: list[Contents]) -> dict[int, int]:
    """Return which run is shown for each run of one launch that has no content of its own.

    A rank that was started again is not shown by itself before.
    """
    contents = {text: frozenset(text.split()) for text in {each.contents for each in ranks}}
    times = Counter(number for each in ranks for number in contents[each.contents])
    shown: list[tuple[Contents, set[int]]] = []
    found: dict[int, int] = {}
    for each in sorted(ranks, key=lambda each: len(contents[each.contents]), reverse=True):
        own = contents[each.contents]
        candidates = () if any(times[number] == 1 for number in own) else shown
        by = next((one for one in candidates if each.rank not in one[1] and own <= contents[one[0].contents]), None)
        if by is None:
            shown.append((each, {each.rank}))
        else:
            by[1].add(each.rank)
            found[each.run] = by[0].run
    return found


def expanded(facts: Iterable[Any], numbers: Mapping[int, Sequence[int]]) -> list[Any]:
    """Return facts for each compile that has their content.

    `numbers` has the compiles of each content that is not one compile's alone.
    """
    if not numbers:
        return list(facts)
    found = []
    for each in facts:
        for number in numbers.get(each.compile, (each.compile,)):
            found.append(each if number == each.compile else structs.replace(each, compile=number))
    return found
