"""Tell what there is more of than a program, a test or a command allows, each kind with its problems."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console

from dynascope.explain.limits import Exceeded
from dynascope.explain.ranking import Ranked
from dynascope.report.brief import print_told
from dynascope.report.sources import Sources

_TOLD = 10
"""The most problems of a kind that are told."""


def over_limits(found: Iterable[Exceeded], sources: Sources) -> str:
    """Return a text of many lines; "" for none."""
    out = io.StringIO()
    console = Console(file=out, highlight=False, soft_wrap=True, color_system=None)
    for each in found:
        console.print(f"{each.title}{':' if each.problems else ''}")
        for problem in each.problems[:_TOLD]:
            print_told(Ranked(problem, 0.0, []), sources, console)
        if len(each.problems) > _TOLD:
            console.print(f"… and {len(each.problems) - _TOLD} more")
    return out.getvalue().rstrip("\n")
