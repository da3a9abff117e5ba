"""The names of compiles when ids repeat: in several processes, and after `torch._dynamo.reset()`."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable

from dynascope.facts import model
from dynascope.facts.current_compiles import first_runs, parsed, program_of
from dynascope.facts.reader import Reader
from dynascope.rank_names import named_ranks, ranks_text

_AFTER_RESET = "after reset"
_OF_RANK = re.compile(r"rank (?P<rank>\d+)(?P<then>[:,] )")


def process_name(run: model.Run) -> str:
    """Return `rank 1`, or `ranks 0-7` where they compiled the same; else `process 4711`."""
    return own_name(run) if run.rank is None else named_ranks(ranks_text(run.alike or [run.rank]))


def own_name(run: model.Run) -> str:
    """Return `rank 1`, or `process 4711` where it is no rank."""
    return f"process {run.pid}" if run.rank is None else f"rank {run.rank}"


def as_shown(name: str, compiles: Iterable[model.Compile], runs: Iterable[model.Run], reader: Reader) -> str:
    """Return the name of a rank's compile, `rank 3: 0/1`, as it is shown: `ranks 0-7: 0/1`.

    `runs` are those of one launch, `compiles` those that are shown of it. A name of no compile is left as it is.
    """
    asked = _OF_RANK.search(name)
    if asked is None:
        return name
    by_id = {run.id: run for run in runs}
    shown = {each.run for each in compiles}
    shown_by = reader.alike.shown_by
    compile_id = name.strip("[]").rpartition(" ")[2]
    for run in by_id.values():
        by = shown_by.get(run.id, run.id)
        has_it = str(run.rank) == asked["rank"] and compile_id in {each for _, _, each in reader.compile_ids(run.id)}
        if has_it and by in shown:
            whose = process_name(by_id[by])
            return name.replace(asked[0], f"{whose}{asked['then']}" if len(shown) > 1 else "")
    return name


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
