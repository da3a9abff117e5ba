"""Print the summary: graph breaks, recompiles, failures, specialisations, skipped frames, slow lines."""

from __future__ import annotations

import textwrap
import time

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax

from dynascope.facts.comparison.sentences import first_difference
from dynascope.facts.recompiles.causes import Cause, entries_by_compile, mismatch
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.facts.recompiles.varying import advice, sentence
from dynascope.report.breaks import SITE, Break
from dynascope.report.callers import callers
from dynascope.report.sources import CodeFrame, Sources, named, shown_path
from dynascope.report.summary import SlowLine, Summary

_SHOWN_SKIPS = 12
_SHOWN_COMPILES = 16


def print_summary(summary: Summary, sources: Sources, console: Console) -> None:
    _print_heading(summary, console)
    for each in summary.breaks:
        _print_break(each, sources, console)
    for cause in summary.causes:
        _print_cause(cause, summary, sources, console)
    for varying in summary.varying:
        guard = varying.fact
        where, function = _where(guard.path, guard.line), escape(guard.function)
        console.print(f"\n[bold cyan]Will be compiled again[/] {where} {function}  {_times(varying.compiles)}")
        console.print(f"  {escape(sentence(guard))}\n  [green]hint[/] {escape(advice(guard))}")
    for failed in summary.backend_failures:
        failure, where = failed.fact, _where(failed.fact.path, failed.fact.line)
        raised = f"{escape(failure.backend)} raised {failure.exception}"
        console.print(f"\n[bold red]Backend failure[/] {where}: {raised}  {_times(failed.compiles)}")
        console.print(f"  {escape(failure.message.strip().splitlines()[0] if failure.message.strip() else '')}")
    if summary.specializations:
        console.print("\n[bold]Specialised[/]")
        for special in summary.specializations:
            fact = special.fact
            names = ", ".join(fact.origins) or fact.symbol
            console.print(
                f"  {_where(fact.path, fact.line)}  {escape(names)} = {fact.value}  {_times(special.compiles)}"
            )
    _print_skips(summary, console)
    _print_slowest(summary.slowest_lines, sources, console)


def _print_heading(summary: Summary, console: Console) -> None:
    run = summary.first_run
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began))
    processes = f", {summary.processes}" if summary.processes else ""
    console.print(f"[bold]{escape(run.program)}[/]  {began}, torch {run.torch_version}{processes}")
    if not summary.compiles:
        console.print("Nothing was compiled in it: dynascope report --launches lists what was recorded before.")
        return
    if summary.ending:
        console.print(escape(summary.ending))
    console.print(summary.counts)
    if not summary.breaks and not summary.failed:
        console.print("[green]No graph breaks.[/]")
    for failed in summary.failures:
        each = failed.fact
        where = _where(each.path, each.resumes_at or each.line)
        name = escape(named(each.function, each.resumes_at))
        console.print(f"\n[bold red]Failed compile[/] {where} {name}  {_times(failed.compiles)}")
        console.print(textwrap.indent(escape(each.failure or "Dynamo gives no reason."), "  "))


def _print_break(each: Break, sources: Sources, console: Console) -> None:
    fact = each.fact
    identifier = f" {fact.registry_id}" if fact.registry_id else ""
    console.print(
        f"\n[bold yellow]Graph break{identifier}[/] {_where(fact.path, fact.line)} in {escape(fact.function)}  "
        f"{_times(each.compiles)}"
    )
    console.print(f"  [bold]{escape(fact.type)}[/]: {each.effect}")
    _print_code(sources.around(fact.path, fact.line, fact.source), console)
    if fact.explanation:
        console.print(textwrap.indent(escape(fact.explanation), "  "))
    for hint in fact.hints:
        console.print(f"  [green]hint[/] {escape(hint)}")
    for led_to in each.led_to:
        other = led_to.message
        name = escape(" ".join(filter(None, [other.registry_id, other.type])))
        console.print(f"  [yellow]led to[/] {name}  {_times(led_to.compiles)}".rstrip())
        console.print(textwrap.indent(escape(other.explanation), "    "))
        for hint in other.hints:
            console.print(f"    [green]hint[/] {escape(hint)}")
    for caller in callers(fact):
        if isinstance(caller, int):
            console.print(f"  [dim]… {caller} more callers …[/]")
        else:
            console.print(f"  [dim]called from {_where(caller.path, caller.line)} in {escape(caller.function)}[/]")
    if fact.registry_id:
        console.print(f"  [dim]{SITE.format(fact.registry_id.lower())}[/]")


def _print_cause(cause: Cause, summary: Summary, sources: Sources, console: Console) -> None:
    fact = cause.first
    title = "Recompile limit reached" if cause.limit_reached else "Failed too" if cause.is_aside else "Recompile"
    shown = cause.others if cause.is_aside else cause.compiles
    console.print(
        f"\n[bold cyan]{title}[/] {_where(fact.path, cause.resumes_at or fact.line)} "
        f"{escape(named(fact.function, cause.resumes_at))}  {_times([summary.names[each] for each in shown])}"
    )
    because = "failed other compiles only:" if cause.is_aside else "because of"
    console.print(f"  {because} [bold]{escape(cause.about)}[/]{escape(_met(cause))}")
    for hint in cause.hints:
        console.print(f"  [green]hint[/] {escape(hint)}")
    for path, line in dict.fromkeys((each.guard_path, each.guard_line) for each in cause.entries):
        if path and line:
            console.print(f"  the guard is from {_where(path, line)}  [dim]{escape(sources.line(path, line))}[/]")
    rows = entries_by_compile(cause)
    for number, entries in rows[:_SHOWN_COMPILES]:
        refused = " was refused, and" if entries[0].limit_reached else ""
        is_cause = number in cause.caused
        console.print(f"  [dim]{summary.names[number]}{refused} {escape(mismatch(entries, is_cause))}[/]")
        if number in summary.stories and is_cause:
            console.print(f"    {escape(' '.join(summary.stories[number]))}")
        if number in summary.comparisons and is_cause:
            console.print(f"    {escape(first_difference(summary.comparisons[number].comparison))}")
    if len(rows) > _SHOWN_COMPILES:
        console.print(f"  [dim]… and {len(rows) - _SHOWN_COMPILES} more: dynascope report --json[/]")


def _met(cause: Cause) -> str:
    """Return `: met 1, 2, 3`, with the values' name if it is not the title's."""
    name = readable(cause.name_of_values)
    values = ", ".join(cause.values)
    if not values:
        return ""
    return f": met {values}" if name in ("", cause.about) else f": met {name}: {values}"


def _print_skips(summary: Summary, console: Console) -> None:
    rows = summary.uncompiled
    if not rows:
        return
    console.print("\n[bold]Run uncompiled[/]")
    for each in rows[:_SHOWN_SKIPS]:
        place, function = _where(each.fact.path, each.line), escape(named(each.fact.function, each.fact.resumes_at))
        console.print(f"  {place} {function}: {escape(each.reason)}  {_times(each.compiles)}")
    if len(rows) > _SHOWN_SKIPS:
        console.print(f"  … and {len(rows) - _SHOWN_SKIPS} more: dynascope report --json")


def _print_slowest(lines: list[SlowLine], sources: Sources, console: Console) -> None:
    if not lines:
        return
    console.print("\n[bold]Slowest lines to trace[/]")
    for each in lines:
        code = escape(sources.line(each.path, each.line))
        console.print(f"  {each.seconds * 1e3:9.1f} ms  {_where(each.path, each.line)}  [dim]{code}[/]")


def _print_code(frame: CodeFrame | None, console: Console) -> None:
    if frame is None:
        return
    console.print(
        Syntax(
            "\n".join(frame.lines),
            "python",
            line_numbers=True,
            start_line=frame.first_line,
            highlight_lines={frame.line},
            theme="ansi_dark",
            background_color="default",
        )
    )
    if frame.stale:
        console.print("  [magenta]The line has changed since.[/]")


def _where(path: str, line: int) -> str:
    return f"[underline]{escape(shown_path(path))}:{line}[/]"


def _times(compiles: list[str]) -> str:
    named = [each for each in compiles if each]
    if len(named) > 3:
        return f"[dim]×{len(named)} compiles[/]"
    return f"[dim]\\[{', '.join(named)}][/]" if named else ""
