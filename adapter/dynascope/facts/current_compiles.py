"""Which compiles say what holds now of a file: of each program the last finished launch, and what came after it.

A launch that has not ended, a debug session that was stopped say, adds its compiles and replaces those of earlier
launches that it has repeated. Programs that share a file stand side by side.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Hashable, Iterable, Sequence

from msgspec import Struct

from dynascope.facts import model


class CommandLine(Struct, frozen=True):
    """`path` is relative to the folder of the run, as on its command line; `module` is `python -m`'s."""

    arguments: list[str]
    path: str | None = None
    module: str | None = None


def command_line(arguments: Sequence[str], module: str | None) -> str:
    """Return `sys.argv` quoted for a shell; `-m module` replaces its first for `python -m`."""
    return shlex.join(["-m", module, *arguments[1:]] if module else arguments)


def parsed(text: str) -> CommandLine | None:
    """Parse the text; None for `python -c`, an interactive session or an imported log."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if words[:1] == ["-m"]:
        return CommandLine(words[2:], module=words[1]) if len(words) > 1 else None
    if not words or not words[0].endswith((".py", ".pyw")):
        return None
    return CommandLine(words[1:], path=words[0])


LAUNCHES_READ = 20
"""Unfinished launches of one program that are looked at, one after another."""


class Candidate(Struct, frozen=True):
    """One compile that traced a line of the file; `path` and `function` are of the function that was compiled."""

    number: int
    run: int
    path: str
    function: str
    resumes_at: int | None
    compile_id: str


def program_of(run: model.Run) -> Hashable:
    """Return a key that all launches of a program share; for imported logs, their folder."""
    if run.origin == "imported":
        return "imported", run.folder
    known = parsed(run.program)
    if known is None:
        return run.program, run.folder
    return known.module or os.path.normpath(os.path.join(run.folder, known.path or "")), ""


def first_runs(runs: Iterable[model.Run]) -> dict[str, model.Run]:
    """Return the process that was started first of each launch, in the order of `runs`.

    Its command line is the user's.
    """
    found: dict[str, model.Run] = {}
    for run in runs:
        known = found.setdefault(run.launch, run)
        if run.began < known.began:
            found[run.launch] = run
    return found


def current(runs: Iterable[model.Run], candidates: Iterable[Candidate]) -> list[int]:
    """Return the numbers of the current compiles, oldest first; `runs` are newest first."""
    runs = list(runs)
    by_id = {run.id: run for run in runs}
    launches: dict[str, list[Candidate]] = {}
    for each in candidates:
        launches.setdefault(by_id[each.run].launch, []).append(each)
    programs: dict[Hashable, list[str]] = {}
    first = first_runs(runs)
    for launch, run in first.items():
        if launch in launches:
            programs.setdefault(program_of(run), []).append(launch)
    kept: list[int] = []
    for newest_first in programs.values():
        repeated: set[Hashable] = set()
        for launch in newest_first[:LAUNCHES_READ]:
            added = [each for each in launches[launch] if _identity(each) not in repeated]
            kept += [each.number for each in added]
            repeated.update(map(_identity, added))
            if all(_has_ended(by_id[each.run], first[launch]) for each in launches[launch]):
                break
    return sorted(kept)


def _has_ended(run: model.Run, first: model.Run) -> bool:
    """Whether a process ended as it should, or is a worker that a pool may have killed."""
    return run.ended is not None or (run.rank is None and first.ended is not None)


def _identity(each: Candidate) -> Hashable:
    """Return a key of a function's first compile, its second …, without its frame's number."""
    return each.path, each.function, each.resumes_at, each.compile_id.rpartition("/")[2]
