"""Describe what a process compiles at one moment: for `--json`, and for the screen."""

from __future__ import annotations

import time

from msgspec import Struct

from dynascope.facts.in_progress.parts import by_part, part_of, pass_name
from dynascope.facts.in_progress.reading import ProcessSeen, Seen
from dynascope.report.sources import shown_path

TRACING = "bytecode_tracing"
"""torch's phase in which Dynamo traces (2.1); what it does then is told by the line."""


class Phase(Struct):
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
    phases: list[Phase]
    parts: dict[str, float]
    """The seconds of each part of the compiler until now."""
    spent: dict[str, float]
    """The seconds of each phase of torch until now, without the phases within it."""


class Snapshot(Struct):
    """A process."""

    pid: int
    program: str
    rank: int | None
    ended: int
    """How many compiles have ended; the one that ended last, and how many seconds ago."""
    latest: str
    latest_seconds_ago: float | None
    compiles: list[Doing]


def snapshot(seen: ProcessSeen) -> Snapshot:
    """Return what is known of a process."""
    process = seen.process
    ago = time.perf_counter() - process.latest_at if process.latest else None
    compiles = [_doing(each) for each in seen.compiles]
    return Snapshot(seen.pid, process.program, process.rank, process.ended, process.latest, ago, compiles)


def _doing(seen: Seen) -> Doing:
    compile, spent = seen.compile, seen.spent()
    names = [name for name, _ in compile.phases]
    at = _at(seen)
    now, seconds = _now(seen, names, at)
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
        now=now,
        now_seconds=seconds,
        at=at,
        phases=[Phase(name, seen.since(began)) for name, began in compile.phases],
        parts=by_part(spent),
        spent=dict(sorted(spent.items(), key=lambda each: -each[1])),
    )


def _at(seen: Seen) -> At | None:
    place = seen.place
    if place is None:
        return None
    called = place.library
    library = At(*called[:3], seen.since(called[3])) if called is not None else None
    return At(place.path, place.line, place.function, seen.since(place.since), library)


def _now(seen: Seen, phases: list[str], at: At | None) -> tuple[str, float]:
    """Return what the compile does, and for how long."""
    compile, innermost = seen.compile, phases[-1] if phases else ""
    if at is not None and innermost in (TRACING, ""):
        called = f", which calls {at.library.function} ({_where(at.library)})" if at.library is not None else ""
        return f"Dynamo traces {_where(at)} in {at.function}{called}", at.seconds
    seconds = seen.since(compile.phases[-1][1]) if phases else seen.now
    graph = f"the graph that ends at {_where(at)}" if at is not None else "a graph"
    backend = f"the backend {compile.backend}" if compile.backend else "the backend"
    match part_of(phases):
        case "guards":
            return "Dynamo builds the guards", seconds
        case "other ranks":
            return "Dynamo waits for the other ranks", seconds
        case "backend":
            return f"{backend} compiles {graph}", seconds
        case "AOTAutograd":
            return f"AOTAutograd prepares {graph}", seconds
        case "Inductor" if (name := pass_name(innermost)) is not None:
            return f"Inductor runs its pass {name} over {graph}", seconds
        case "Inductor":
            return f"Inductor compiles {graph}", seconds
        case "kernels":
            return f"Inductor compiles or tunes kernels for {graph}", seconds
    return "Dynamo works on the function", seconds


def _where(at: At) -> str:
    return f"{shown_path(at.path)}:{at.line}"
