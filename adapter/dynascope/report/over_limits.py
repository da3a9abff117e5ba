"""Tell what there is more of than a program, a test or a command allows, each kind with its problems."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from dynascope.explain.limits import Exceeded
from dynascope.explain.ranking import Ranked
from dynascope.report.brief import print_told
from dynascope.report.sources import Sources
from dynascope.report.summary import Summary
from dynascope.report.terminal import print_problem, printed

_TOLD = 10
"""The most problems of a kind that are told."""


def over_limits(found: Iterable[Exceeded], summary: Summary, sources: Sources, in_full: int = 0) -> str:
    """Return a text of many lines; "" for none.

    The first `in_full` problems of each kind are told in full.
    """

    def write(console: Console) -> None:
        for each in found:
            console.print(f"{each.title}{':' if each.problems else ''}")
            for problem in each.problems[:in_full]:
                print_problem(problem, summary, sources, console)
            for problem in each.problems[in_full:_TOLD]:
                print_told(Ranked(problem, 0.0, []), sources, console)
            if len(each.problems) > _TOLD:
                console.print(f"… and {len(each.problems) - _TOLD} more")

    return printed(write)
