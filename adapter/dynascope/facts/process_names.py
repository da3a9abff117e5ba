"""The names of compiles when ids repeat: in several processes, and after `torch._dynamo.reset()`."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable

from dynascope.facts import model
from dynascope.facts.current_compiles import first_runs, parsed, program_of

_AFTER_RESET = "after reset"


def process_name(run: model.Run) -> str:
    """Return `rank 1` for a process of a distributed program, else `process 4711`."""
    return f"rank {run.rank}" if run.rank is not None else f"process {run.pid}"


def program_name(run: model.Run) -> str:
    """Return `train.py`, the module's name, or the first word of the command line."""
    known = parsed(run.program)
    if known is None:
        return run.program.partition(" ")[0]
    return known.module or os.path.basename(known.path or "")


def compile_names(
    compiles: Iterable[model.Compile],
    runs: Iterable[model.Run],
    all_of_runs: Iterable[tuple[int, int, str]] | None = None,
) -> dict[int, str]:
    """Return the names by the store's numbers: `0/1`, or with several processes `rank 1: 0/1`.

    Compiles of several programs have their program's name, those of several launches of one program have the time.
    Ids begin anew when the program calls `torch._dynamo.reset()`: `after reset: 0/1`, `after reset 2: 0/1`.
    The name is "" for a frame that was skipped before it had an id. Where `compiles` are not all, `all_of_runs` has
    the number, run and id of each.
    """
    compiles = list(compiles)
    of_runs = _run_names({each.run for each in compiles}, list(runs))
    if all_of_runs is None:
        all_of_runs = [(each.id, each.run, each.compile_id) for each in compiles]
    resets = _resets(all_of_runs)
    names = {}
    for each in compiles:
        count = resets.get(each.id, 0)
        reset = f"{_AFTER_RESET} {count}" if count > 1 else _AFTER_RESET if count else ""
        whose = ", ".join(filter(None, [of_runs.get(each.run), reset]))
        names[each.id] = f"{whose}: {each.compile_id}" if whose and each.compile_id else each.compile_id
    return names


def _resets(compiles: Iterable[tuple[int, int, str]]) -> dict[int, int]:
    """Return the number of resets before each compile.

    An id that its run has had before is of the time after a reset.
    """
    counts: dict[int, int] = {}
    seen: dict[int, set[str]] = {}
    found = {}
    for number, run, compile_id in sorted(compiles):
        ids = seen.setdefault(run, set())
        if compile_id in ids and "!" not in compile_id:  # captures of compiled autograd count on their own
            counts[run] = counts.get(run, 0) + 1
            ids.clear()
        if compile_id:
            ids.add(compile_id)
        found[number] = counts.get(run, 0)
    return found


def _run_names(numbers: set[int], runs: list[model.Run]) -> dict[int, str]:
    """Return what distinguishes each of these runs from the others; "" where there is one."""
    first = first_runs(runs)
    chosen = [run for run in runs if run.id in numbers]
    processes = Counter(run.launch for run in chosen)
    launches = Counter(program_of(first[launch]) for launch in processes)
    names = {}
    for run in chosen:
        began = first[run.launch]
        parts = [program_name(began)] if len(launches) > 1 else []
        if launches[program_of(began)] > 1:
            parts.append(time.strftime("%H:%M:%S", time.localtime(began.began)))
        if processes[run.launch] > 1:
            parts.append(process_name(run))
        names[run.id] = ", ".join(parts)
    return names
