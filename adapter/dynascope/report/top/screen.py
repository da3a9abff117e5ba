"""Describe what processes compile at one moment: as structs for `--json`, and drawn for a terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from msgspec import Struct
from rich.console import Group
from rich.markup import escape
from rich.text import Text

from dynascope.explain.in_progress import OF_LATER, doing, idle, traces_a_line
from dynascope.explain.problem import named
from dynascope.facts.compiler_parts import by_part, part_of
from dynascope.facts.counts import seconds
from dynascope.facts.in_progress import CompileSeen, ProcessSeen
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


_SHOWN = 6


def shown(processes: Sequence[ProcessSeen]) -> Group:
    """Return the processes one below the other."""
    return Group(*(Text.from_markup("\n".join(_process(snapshot(each)))) for each in processes))


def _process(process: ProcessSnapshot) -> list[str]:
    rank = f", rank {process.rank}" if process.rank is not None else ""
    program = escape(process.program or "a program that has not imported torch yet")
    rows = [f"[bold]{program}[/]  process {process.pid}{rank}"]
    for compile in process.compiles:
        rows += _compile(compile)
    if not process.compiles:
        told = idle(process.ended, process.latest, seconds(process.latest_seconds_ago or 0))
        rows.append(escape(f"  {told}"))
    return rows


def _compile(compile: Doing) -> list[str]:
    attempt = f"_{compile.attempt - 1}" if compile.attempt > 1 else ""
    name = escape(f"{named(compile.function, compile.resumes_at)} [{compile.compile_id}{attempt}]")
    later = OF_LATER if compile.is_later else ""
    where = f"{escape(shown_path(compile.path))}:{compile.resumes_at or compile.line}"
    rows = [
        f"  {later}[bold cyan]{name}[/] [underline]{where}[/]  {escape(compile.thread)}, for {seconds(compile.seconds)}"
    ]
    if compile.stopped is not None:
        rows.append(f"    [magenta]stopped by a debugger[/] for {seconds(compile.stopped)}, where")
    rows.append(f"    [bold]now[/] {escape(compile.now)}, for {seconds(compile.now_seconds)}")
    if compile.phases:
        phases = " > ".join(f"{each.name} {seconds(each.seconds)}" for each in compile.phases[-_SHOWN:])
        rows.append(f"    [dim]in  {escape(phases)}[/]")
    rows.append(f"    so far: {_sums(compile.parts)}")
    rows.append(f"    [dim]longest: {escape(_sums({k or 'outside of all': v for k, v in compile.spent.items()}))}[/]")
    return rows


def _sums(spent: Mapping[str, float]) -> str:
    longest = list(spent.items())[:_SHOWN]
    return ", ".join(f"{name} {seconds(time)}" for name, time in longest if time >= 0.0005)
