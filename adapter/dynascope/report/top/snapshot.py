"""Describe what a process compiles at one moment: for `--json`, and for the screen."""

from __future__ import annotations

import time

from msgspec import Struct

from dynascope.explain.in_progress import doing, traces_a_line
from dynascope.facts.in_progress.parts import by_part, part_of
from dynascope.facts.in_progress.reading import CompileSeen, ProcessSeen
from dynascope.report.sources import shown_path


class PhaseInProgress(Struct):
    """A phase of torch that has begun and not ended."""

    name: str
    seconds: float


class At(Struct):
    """A line that Dynamo traces, the innermost in the user's own code; `seconds`: for how long, with its calls."""

    path: str
    line: int
    function: str
    seconds: float
    library: At | None = None
    """The innermost line of all, where that is in a library which this one calls."""


class Doing(Struct):
    """A compile in progress; `seconds` is its time so far, without stops of a debugger."""

    thread: str
    compile_id: str
    function: str
    path: str
    line: int
    resumes_at: int | None
    is_later: bool
    attempt: int
    backend: str
    seconds: float
    stopped: float | None
    """For how long a debugger has stopped it."""
    part: str
    """`Dynamo`, `guards`, `backend`, `AOTAutograd`, `Inductor`, `kernels`, `other ranks`."""
    now: str
    """What it does, as a sentence; `now_seconds`: for how long."""
    now_seconds: float
    at: At | None
    phases: list[PhaseInProgress]
    parts: dict[str, float]
    """The seconds of each part of the compiler until now."""
    spent: dict[str, float]
    """The seconds of each phase of torch until now, without the phases within it."""


class ProcessSnapshot(Struct):
    """A process."""

    pid: int
    program: str
    rank: int | None
    ended: int
    """How many compiles have ended; the one that ended last, and how many seconds ago."""
    latest: str
    latest_seconds_ago: float | None
    compiles: list[Doing]


def snapshot(seen: ProcessSeen) -> ProcessSnapshot:
    """Return what is known of a process."""
    process = seen.process
    ago = time.perf_counter() - process.latest_at if process.latest else None
    compiles = [_doing(each) for each in seen.compiles]
    return ProcessSnapshot(seen.pid, process.program, process.rank, process.ended, process.latest, ago, compiles)


def _doing(seen: CompileSeen) -> Doing:
    compile, spent = seen.compile, seen.spent()
    names = [name for name, _ in compile.phases]
    return Doing(
        thread=compile.thread,
        compile_id=compile.compile_id,
        function=compile.function,
        path=compile.path,
        line=compile.line,
        resumes_at=compile.resumes_at,
        is_later=compile.is_later,
        attempt=compile.attempt,
        backend=compile.backend,
        seconds=seen.now,
        stopped=seen.stopped,
        part=part_of(names),
        now=doing(names, compile.backend, seen.place, shown_path),
        now_seconds=_now_seconds(seen, names),
        at=_at(seen),
        phases=[PhaseInProgress(name, seen.since(began)) for name, began in compile.phases],
        parts=by_part(spent),
        spent=dict(sorted(spent.items(), key=lambda each: -each[1])),
    )


def _at(seen: CompileSeen) -> At | None:
    place = seen.place
    if place is None:
        return None
    called = place.library
    library = At(*called[:3], seen.since(called[3])) if called is not None else None
    return At(place.path, place.line, place.function, seen.since(place.since), library)


def _now_seconds(seen: CompileSeen, phases: list[str]) -> float:
    if seen.place is not None and traces_a_line(phases, seen.place):
        return seen.since(seen.place.since)
    return seen.since(seen.compile.phases[-1][1]) if phases else seen.now
