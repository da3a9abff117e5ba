"""Print all of a launch: graph breaks, recompiles, failures, specialisations, skipped frames, slow lines."""

from __future__ import annotations

import io
import textwrap
import time
from collections.abc import Callable, Iterable

from msgspec import Struct
from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax

from dynascope.explain.comparison import first_difference
from dynascope.explain.compiles import NO_BREAKS, NOTHING, several
from dynascope.explain.graph_breaks import registry_page
from dynascope.explain.kinds import KINDS, SECTIONS, Severity
from dynascope.explain.not_recorded import ending
from dynascope.explain.problem import Note, Place, Problem
from dynascope.report.sources import CodeFrame, Sources, shown_path
from dynascope.report.summary import SlowLine, Summary

_SHOWN_LINES = 12
_SHOWN_COMPILES = 4
COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow", "information": "cyan"}


class Further(Struct, frozen=True):
    """Texts that name the commands, or calls, for more details."""

    one: str
    """This tells one problem in full."""
    all: str
    """This tells all of them."""
    time: str
    """This tells where the time went."""
    others: str
    """This says why nothing may have been compiled."""


def by_command(options: str = "") -> Further:
    """Return the commands that tell more of a launch, which `options` choose."""
    return Further(
        one=f"One in full: dynascope explain ID{options}, or FILE:LINE",
        all=f"All: dynascope report --all{options}",
        time=f"Where the time went: dynascope profile{options}",
        others="dynascope report --launches lists what was recorded before.",
    )


def print_summary(summary: Summary, sources: Sources, console: Console, further: Further) -> None:
    """Print the problems, and then the slowest lines."""
    print_heading(summary, console, further)
    for kind in SECTIONS:
        found = summary.of_kind(kind.name)
        if kind.is_brief:
            _print_lines(kind.heading, found, summary, console)
            continue
        for each in found:
            print_problem(each, summary, sources, console)
    _print_slowest(summary.slowest_lines, sources, console)


def print_heading(summary: Summary, console: Console, further: Further, says_whole: bool = True) -> None:
    """Print the program and the totals.

    `says_whole`: whether to say also in words that there are no graph breaks.
    """
    run = summary.first_run
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began))
    processes = f", {summary.processes}" if summary.processes else ""
    console.print(f"[bold]{escape(run.program)}[/]  {began}, torch {run.torch_version}{processes}")
    if not summary.compiles:
        console.print(f"{NOTHING.capitalize()}: {escape(further.others)}")
        return
    if told := ending(summary.runs, summary.compiling):
        console.print(escape(told))
    if summary.ranks:
        console.print(escape(summary.ranks))
    console.print(summary.totals)
    if summary.is_whole and says_whole:
        console.print(f"[green]{NO_BREAKS.capitalize()}.[/]")


def printed(write: Callable[[Console], object]) -> str:
    """Return as text, without colours, what a function prints to a console."""
    out = io.StringIO()
    write(Console(file=out, highlight=False, soft_wrap=True, color_system=None, force_jupyter=False))
    return out.getvalue().rstrip("\n")


def print_problems(problems: Iterable[Problem], summary: Summary, sources: Sources, console: Console) -> None:
    """Print all that is known of each problem."""
    for each in problems:
        print_problem(each, summary, sources, console)


def print_problem(each: Problem, summary: Summary, sources: Sources, console: Console) -> None:
    """Print all that is known of a problem."""
    kind = KINDS[each.kind]
    label = " ".join(filter(None, [kind.heading.removesuffix("s"), each.registry_id]))
    heading = f"[bold {COLOURS[kind.severity]}]{label}[/] {where(each.place)} {escape(each.whose)}"
    console.print(f"\n{heading.rstrip()}  {_times(each.compiles, summary)}")
    console.print(f"  {each.because}[bold]{escape(each.about)}[/]{escape(f': {each.effect}' if each.effect else '')}")
    if each.kind == "graphBreak":
        _print_code(sources.around(each.place.path, each.place.line, each.place.source), console)
    for text in each.details:
        console.print(textwrap.indent(escape(text), "  "))
    for remedy in each.remedies:
        console.print(f"  [green]hint[/] {escape(remedy)}")
    compiles = [note for note in each.notes if note.kind == "compile"]
    for note in each.notes:
        if note not in compiles:
            _print_note(note, summary, sources, console)
    left_out = len(compiles) - _SHOWN_COMPILES
    for place, note in enumerate(compiles):
        if left_out <= 0 or place < _SHOWN_COMPILES - 1 or place == _last_told(compiles, summary):
            _print_compile(note, summary, console)
        elif place == _SHOWN_COMPILES - 1:
            console.print(f"  [dim]… and {left_out} more: dynascope report --json --all[/]")
    if each.registry_id:
        console.print(f"  [dim]{registry_page(each.registry_id)}[/]")


def _last_told(compiles: list[Note], summary: Summary) -> int:
    """Return the place of the last compile, or refused call, of which a story is told."""
    return max(place for place, note in enumerate(compiles) if not place or note.compiles[0] in summary.stories)


def _print_note(note: Note, summary: Summary, sources: Sources, console: Console) -> None:
    text = f"  [yellow]{note.text}[/]" if note.kind == "led to" else f"  [dim]{note.text}[/]"
    if note.place is not None:
        text += f" {where(note.place)}"
    if note.kind in ("guard", "symbol") and note.place is not None:
        text += f"  [dim]{escape(sources.line(note.place.path, note.place.line))}[/]"
    if note.subject:
        text += f" {'[dim]in[/] ' if note.place is not None else ''}{escape(note.subject)}"
    console.print(f"{text}  {_times(note.compiles, summary)}".rstrip())
    for detail in note.details if note.kind == "led to" else ():
        console.print(textwrap.indent(escape(detail), "    "))
    for remedy in note.remedies:
        console.print(f"    [green]hint[/] {escape(remedy)}")


def _print_compile(note: Note, summary: Summary, console: Console) -> None:
    """Print what a compile does not match, its call, and what differs in it."""
    number = note.compiles[0]
    console.print(f"  [dim]{summary.names[number]} {escape(note.text)}[/]")
    if number in summary.stories and note.is_cause:
        console.print(f"    {escape(' '.join(summary.stories[number]))}")
    if number in summary.comparisons and note.is_cause:
        console.print(f"    {escape(first_difference(summary.comparisons[number].comparison))}")


def _print_lines(heading: str, found: list[Problem], summary: Summary, console: Console) -> None:
    """Print problems of which there may be many, and little to say."""
    if found:
        console.print(f"\n[bold]{heading}[/]")
    for each in found[:_SHOWN_LINES]:
        text = f"{each.whose}: {each.cause}" if each.whose else each.cause
        console.print(f"  {where(each.place)} {escape(text)}  {_times(each.compiles, summary)}".rstrip())
    if len(found) > _SHOWN_LINES:
        console.print(f"  … and {len(found) - _SHOWN_LINES} more: dynascope report --json --all")


def _print_slowest(lines: list[SlowLine], sources: Sources, console: Console) -> None:
    if not lines:
        return
    console.print("\n[bold]Slowest lines to trace[/]")
    for each in lines:
        code = escape(sources.line(each.path, each.line))
        console.print(f"  {each.seconds * 1e3:9.1f} ms  {where(Place(each.path, each.line))}  [dim]{code}[/]")


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
    if frame.remark:
        console.print(f"  [magenta]{frame.remark}[/]")


def where(place: Place) -> str:
    """Return `model.py:13` as the report writes it."""
    return f"[underline]{escape(shown_path(place.path))}:{place.line}[/]"


def _times(compiles: list[int], summary: Summary) -> str:
    told = several(summary.names[number] for number in compiles)
    return f"[dim]{told}[/]" if told.startswith("×") else f"[dim]\\[{told}][/]" if told else ""
