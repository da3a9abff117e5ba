"""The names of compiles when several processes recorded: each process numbers its own from `0/0`."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.facts import model


def process_name(run: model.Run) -> str:
    """Return `rank 1` for a process of a distributed program, else `process 4711`."""
    return f"rank {run.rank}" if run.rank is not None else f"process {run.pid}"


def compile_names(compiles: Iterable[model.Compile], runs: Iterable[model.Run]) -> dict[int, str]:
    """Return the names by the store's numbers: `0/1`, or with several processes `rank 1: 0/1`.

    The name is "" for a frame that was skipped before it had an id.
    """
    compiles = list(compiles)
    if len({each.run for each in compiles}) < 2:
        return {each.id: each.compile_id for each in compiles}
    processes = {run.id: process_name(run) for run in runs}
    return {each.id: each.compile_id and f"{processes.get(each.run, '?')}: {each.compile_id}" for each in compiles}
