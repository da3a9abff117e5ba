"""Print the problems that are to be mended first, in a few lines each; `terminal` prints all of each."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.markup import escape

from dynascope.explain.kinds import KINDS, noun_of
from dynascope.explain.problem import Problem, one_line
from dynascope.explain.ranking import LEAST_COST, Ranked, ranking
from dynascope.facts.counts import counted
from dynascope.report.sources import Sources
from dynascope.report.summary import Summary
from dynascope.report.terminal import COLOURS, Further, print_heading, where

_TOLD, _NAMED = 5, 8
"""So many problems are told, and so many more named."""
_FOLLOW = 3
"""So many that follow from a problem are named."""
_LONGEST_CODE = 100


def print_brief(summary: Summary, sources: Sources, console: Console, further: Further) -> None:
    """Print what to mend first, in at most forty lines for most programs."""
    found = ranking(summary.problems, summary.compiles)
    print_heading(summary, console, further, says_whole=not found.first)
    for each in found.first[:_TOLD]:
        print_told(each, sources, console)
    rest = found.first[_TOLD:]
    for each in rest[:_NAMED]:
        console.print(_title(each))
    others = [one.problem for one in rest[_NAMED:]] + [*found.counted]
    others += [each for one in rest for each in one.follow]
    left = [_counted(others)] if others else []
    left += [f"in libraries {_counted(found.in_libraries)}"] if found.in_libraries else []
    if left:
        console.print(f"[dim]also: {'; '.join(left)}[/]")
    if found.first:
        console.print(f"[dim]{escape(further.one)}. {escape(further.all)}[/]")
    elif left:
        console.print(f"[dim]{escape(further.all)}[/]")
    if summary.compiles and further.time:
        console.print(f"[dim]{escape(further.time)}[/]")


def print_told(each: Ranked, sources: Sources, console: Console) -> None:
    """Print a problem in a few lines: where it is, what it is, its line, and the best remedy."""
    problem = each.problem
    console.print(_title(each))
    if problem.section == "recompile":
        told = [problem.effect, *problem.details]
        if any(told):
            console.print(f"  {escape(one_line(*(_ended(text) for text in told if text)))}")
    else:
        code = sources.line(problem.place.path, problem.place.line)
        console.print(f"    [dim]{escape(code[:_LONGEST_CODE])}[/]")
    for detail in problem.details[:1] if problem.kind == "backendFailure" else ():
        console.print(f"  {escape(one_line(detail))}")
    for remedy in problem.remedies[:1]:
        console.print(f"  [green]hint[/] {escape(remedy)}")
    if problem.leaves:
        calls = [note.text for note in problem.notes if note.kind == "calls"]
        console.print(f"  {escape(one_line('; '.join([problem.effect, *calls])))}")
    for note in [note for note in problem.notes if note.kind == "led to" and not problem.leaves][:1]:
        at = f" at {where(note.place)}" if note.place is not None else ""
        console.print(f"  {escape(note.text)} {escape(': '.join([note.subject, *note.details[:1]]))}{at}")
    if each.follow:
        more = [f"{len(each.follow) - _FOLLOW} more"] if len(each.follow) > _FOLLOW else []
        console.print(f"  [dim]follows from it: {', '.join([*map(_briefly, each.follow[:_FOLLOW]), *more])}[/]")


def _briefly(follows: Problem) -> str:
    """Return `recompiled because of x.size()[0] (2 compiles)`."""
    title = follows.title.replace("Recompiled", "recompiled", 1)
    return escape(f"{title} ({counted(len(follows.compiles), 'compile')})" if follows.compiles else title)


def _title(each: Ranked) -> str:
    problem = each.problem
    often = [f"×{problem.count}"] if problem.count > 1 else []
    cost = [f"{each.seconds:.1f} s"] if each.seconds >= LEAST_COST else []
    told = escape(f"  {', '.join([*often, *cost])}" if often or cost else "")
    colour = COLOURS[KINDS[problem.kind].severity]
    return f"{where(problem.place)} [bold {colour}]{escape(problem.title)}[/]{told}  [dim]{escape(problem.id)}[/]"


def _counted(problems: list[Problem]) -> str:
    """Return `2 recompiles, 1 specialization`."""
    nouns = Counter(noun_of(each.kind) for each in problems)
    return ", ".join(counted(count, noun) for noun, count in nouns.items())


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", "!", ":")) else f"{text}."
