"""Print a profile: each compile, the slowest functions and phases, the slowest lines."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from dynascope.explain.compiles import LEFT_UNCOMPILED, time_spent
from dynascope.explain.problem import Place
from dynascope.explain.where_time_went import where_time_went
from dynascope.facts import model
from dynascope.facts.profile import Total, totals
from dynascope.report.profile.measured import Measured
from dynascope.report.sources import Sources
from dynascope.report.summary import slowest_lines
from dynascope.report.terminal import where

_SHOWN = 15


def print_profile(measured: list[Measured], lines: list[model.LineTime], sources: Sources, console: Console) -> None:
    """Print the longest of everything."""
    later = sum(each.later for each in measured)
    console.print(f"[bold]{time_spent([each.compile for each in measured], later)}[/]")
    for sentence in where_time_went([each.spent for each in measured]):
        console.print(escape(sentence))
    console.print()
    _print_compiles(measured, console)
    found = totals([root for each in measured for root in each.roots])
    functions = [each for each in found if each.is_function]
    _print_totals("Functions that Dynamo traced", "with calls", functions, console)
    roots = {root.name for each in measured for root in each.roots}
    phases = [each for each in found if not each.is_function and each.key[1] not in roots]
    _print_totals("Phases of torch", "with parts", phases, console)
    rows = [
        (
            [f"{line.seconds * 1e3:.1f}", f"{line.visits}"],
            f"{where(Place(line.path, line.line))}  [dim]{escape(sources.line(line.path, line.line))}[/]",
        )
        for line in slowest_lines(lines)
    ]
    _print_table("Lines that Dynamo traced", ["own ms", "visits"], rows, console)


def _print_compiles(measured: list[Measured], console: Console) -> None:
    rows = []
    for each in measured[:_SHOWN]:
        times = each.compile.seconds, each.tracing, each.compile.backend_seconds, each.guards, each.other, each.later
        name = each.name if each.compile.status in model.COMPILES else f"{each.name}, {LEFT_UNCOMPILED}"
        rows.append(([f"{time:.2f}" if time >= 0.005 else "" for time in times], escape(name)))
    _print_table("", ["seconds", "tracing", "backend", "guards", "other", "later"], rows, console)
    if len(measured) > _SHOWN:
        console.print(f"  and {len(measured) - _SHOWN} shorter: --json has them")


def _print_totals(title: str, with_below: str, found: list[Total], console: Console) -> None:
    rows = []
    for each in found[:_SHOWN]:
        path, name, line = each.key
        numbers = [f"{each.own * 1e3:.1f}", f"{each.seconds * 1e3:.1f}", f"{each.count}"]
        rows.append((numbers, f"{escape(name)}{f'  {where(Place(path, line))}' if line else ''}"))
    _print_table(title, ["own ms", with_below, "times"], rows, console)


def _print_table(title: str, columns: list[str], rows: list[tuple[list[str], str]], console: Console) -> None:
    if not rows:
        return
    if title:
        console.print(f"\n[bold]{title}[/]")
    widths = [max(9, len(column) + 2) for column in columns]
    console.print(f"[dim]{_aligned(columns, widths)}[/]")
    for numbers, text in rows:
        console.print(f"[cyan]{_aligned(numbers, widths)}[/]  {text}")


def _aligned(cells: list[str], widths: list[int]) -> str:
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
