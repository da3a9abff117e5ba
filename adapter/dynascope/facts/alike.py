"""Which ranks of a job compiled the same: their facts are stored once, and one rank is shown for all of them.

A writer of a rank compares the digest of a compile with those that other ranks of the launch have stored. Where one is
equal, it stores a small row (its run and times) that refers to the `content`: the number of the compile that has the
facts. A reader does not show a run of which another one has all contents: the shown one is called `ranks 0-1023`.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct, structs

from dynascope.facts import model

_MEASURED = {"began": 0.0, "seconds": 0.0, "backend_seconds": 0.0, "rank_wait_seconds": 0.0}
_WITH_TIMES = ("profile", "guard_costs", "line_times")
_LATER = "forms"
"""Made of the graph, which is compared."""
_UNMARKED = {"id": 0, "run": 0, "source": 0}
_encode = msgspec.json.Encoder().encode
_OF_PROCESS = rb"_?[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}|\b0x[0-9a-f]{6,}|, \d{9,}(?=\))"
"""The name that Dynamo gives to a compiled graph, addresses, and in guards the identities of objects."""


def digest_of(facts: model.CompileFacts, trails: Sequence[Any], device: int) -> bytes:
    """Return a digest (16 bytes) of a compile, without times, addresses and the rank's device.

    `device`: the rank's number on its machine, which is the index of its device where each rank has its own.
    """
    compared = {name: getattr(facts, name) for name in facts.__struct_fields__ if name not in (*_WITH_TIMES, _LATER)}
    compared["compile"] = structs.replace(facts.compile, **_UNMARKED, **_MEASURED)
    compared["visits"] = [(each.path, each.line, each.visits) for each in facts.line_times]
    of_process = re.compile(_OF_PROCESS + rb"|(?:cuda:|device=|index=)%d(?!\d)" % device)
    return hashlib.blake2b(of_process.sub(b"", _encode([compared, trails])), digest_size=16).digest()


def equal_compile(connection: sqlite3.Connection, run: int, launch: str, digest: bytes) -> int | None:
    """Return the compile of another rank with this digest to which `run` does not refer yet."""
    found = connection.execute(
        "SELECT c.id FROM compile c JOIN run r ON r.id = c.run_id WHERE c.digest = ? AND r.launch = ? AND r.id != ? "
        "AND NOT EXISTS (SELECT 1 FROM compile WHERE run_id = ? AND content = c.id) ORDER BY c.id LIMIT 1",
        (digest, launch, run, run),
    ).fetchone()
    return found[0] if found else None


class Contents(Struct):
    """What a rank has compiled: its run, and the numbers of the contents, in order and separated by spaces."""

    run: int
    rank: int
    launch: str
    contents: str


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
    ranks = [Contents(*row) for row in rows]
    shown_by: dict[int, int] = {}
    for _, of_launch in groupby(ranks, lambda each: each.launch):
        shown_by |= _shown_by(list(of_launch))
    return Alike(ranks, shown_by)


def _shown_by(ranks: list[Contents]) -> dict[int, int]:
    """Return which run is shown for each run of one launch that has no content of its own."""
    runs: dict[str, list[int]] = {}
    for each in ranks:
        runs.setdefault(each.contents, []).append(each.run)
    shown: list[tuple[int, frozenset[str]]] = []
    found: dict[int, int] = {}
    contents = {text: frozenset(text.split()) for text in runs}
    for text in sorted(runs, key=lambda text: len(contents[text]), reverse=True):
        first, *others = runs[text]
        by = next((run for run, known in shown if contents[text] <= known), None)
        if by is None:
            shown.append((first, contents[text]))
        else:
            found[first] = by
        found |= dict.fromkeys(others, first if by is None else by)
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
