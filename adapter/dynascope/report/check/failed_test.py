"""Tell why a test fails: each kind of which there is too much, with all that is known of its first problems."""

from __future__ import annotations

import io

from rich.console import Console

from dynascope.explain.ranking import Ranked
from dynascope.facts.reader import Reader
from dynascope.report.brief import print_told
from dynascope.report.check.outcome import CheckOutcome
from dynascope.report.sources import Sources
from dynascope.report.terminal import print_problem

_IN_FULL, _BRIEFLY = 3, 10
_COMPILED_BEFORE = "Code that was compiled before is not compiled again, unless torch._dynamo.reset() is called."


def failed_test(outcome: CheckOutcome, reader: Reader, must_compile: bool) -> str:
    """Return a text of many lines; "" where the test passes.

    `must_compile`: whether a test in which nothing is compiled fails.
    """
    out = io.StringIO()
    console = Console(file=out, highlight=False, soft_wrap=True, color_system=None)
    if outcome.nothing and must_compile:
        console.print(f"{outcome.nothing}. {_COMPILED_BEFORE}")
    sources = Sources(reader)
    for each in outcome.exceeded:
        console.print(each.title)
        for problem in each.problems[:_IN_FULL]:
            print_problem(problem, outcome.summary, sources, console)
        for problem in each.problems[_IN_FULL:_BRIEFLY]:
            print_told(Ranked(problem, 0.0, []), sources, console)
        if len(each.problems) > _BRIEFLY:
            console.print(f"… and {len(each.problems) - _BRIEFLY} more")
    if outcome.exceeded and outcome.remark:
        console.print(outcome.remark)
    return out.getvalue().rstrip("\n")
