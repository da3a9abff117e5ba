"""Draw what processes compile now, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group
from rich.markup import escape
from rich.text import Text

from dynascope.explain.in_progress import OF_LATER, idle
from dynascope.explain.problem import named
from dynascope.facts.counts import seconds
from dynascope.facts.in_progress.reading import ProcessSeen
from dynascope.report.sources import shown_path
from dynascope.report.top.snapshot import Doing, ProcessSnapshot, snapshot

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
    name = escape(f"{named(compile.function, compile.resumes_at)} [{compile.compile_id}]")
    later = OF_LATER if compile.is_later else ""
    where = f"{escape(shown_path(compile.path))}:{compile.resumes_at or compile.line}"
    attempt = f", attempt {compile.attempt}" if compile.attempt > 1 else ""
    rows = [
        f"  {later}[bold cyan]{name}[/] [underline]{where}[/]  {escape(compile.thread)}, "
        f"for {seconds(compile.seconds)}{attempt}"
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
