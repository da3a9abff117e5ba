"""The names of compiles when several processes recorded: each process numbers its own from `0/0`."""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Iterable

from dynascope.facts import command_line, model
from dynascope.facts.current_compiles import first_runs, program_of


def process_name(run: model.Run) -> str:
    """Return `rank 1` for a process of a distributed program, else `process 4711`."""
    return f"rank {run.rank}" if run.rank is not None else f"process {run.pid}"


def program_name(run: model.Run) -> str:
    """Return `train.py`, the module's name, or the first word of the command line."""
    known = command_line.read(run.program)
    if known is None:
        return run.program.partition(" ")[0]
    return known.module or os.path.basename(known.path or "")


def compile_names(compiles: Iterable[model.Compile], runs: Iterable[model.Run]) -> dict[int, str]:
    """Return the names by the store's numbers: `0/1`, or with several processes `rank 1: 0/1`.

    Compiles of several programs have their program's name, those of several launches of one program have the time.
    The name is "" for a frame that was skipped before it had an id.
    """
    compiles = list(compiles)
    names = _run_names({each.run for each in compiles}, list(runs))
    return {
        each.id: f"{names[each.run]}: {each.compile_id}" if names.get(each.run) and each.compile_id else each.compile_id
        for each in compiles
    }


def _run_names(numbers: set[int], runs: list[model.Run]) -> dict[int, str]:
    """Return what distinguishes each of these runs from the others; "" where there is one."""
    first = first_runs(runs)
    chosen = [run for run in runs if run.id in numbers]
    launches: dict[Hashable, set[str]] = {}
    processes: dict[str, int] = {}
    for run in chosen:
        launches.setdefault(program_of(first[run.launch]), set()).add(run.launch)
        processes[run.launch] = processes.get(run.launch, 0) + 1
    names = {}
    for run in chosen:
        began = first[run.launch]
        parts = [program_name(began)] if len(launches) > 1 else []
        if len(launches[program_of(began)]) > 1:
            parts.append(time.strftime("%H:%M:%S", time.localtime(began.began)))
        if processes[run.launch] > 1:
            parts.append(process_name(run))
        names[run.id] = ", ".join(parts)
    return names
