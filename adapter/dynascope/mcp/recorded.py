"""Answer questions about recorded launches of the current folder: the texts are the report's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from dynascope.explain.compiles import COMPILED_BEFORE
from dynascope.explain.problem import Problem
from dynascope.explain.ranking import ranking
from dynascope.facts.reader import Reader
from dynascope.report import generated
from dynascope.report.brief import print_brief
from dynascope.report.sources import Sources, chosen_launch, opened, shown_path
from dynascope.report.summary import Summary, summarize
from dynascope.report.terminal import Further, printed

_FURTHER = Further(
    one="One in full: explain(ID)",
    all="All in a line each: problems()",
    time="",
    others=COMPILED_BEFORE,
)
SHOWN: dict[str, Callable[..., str]] = {
    "graph": generated.graph,
    "guards": generated.guards,
    "bytecode": generated.code,
}


class NotThere(Exception):
    """There is no such launch, problem or compile; the text says which there are."""


@contextmanager
def launch(name: str | None) -> Iterator[tuple[Reader, Summary]]:
    """Open a launch, the newest for None. Raises NotThere."""
    try:
        with opened(None, None) as reader:
            yield reader, summarize(reader, chosen_launch(reader, name))
    except click.ClickException as error:
        raise NotThere(f"{error.message} Call record(command) first.") from None


def first_to_mend(reader: Reader, summary: Summary) -> str:
    """Return the totals and the problems to be mended first, in a few lines each."""
    return printed(lambda console: print_brief(summary, Sources(reader), console, _FURTHER))


def first(summary: Summary) -> str:
    """Return the id of the problem that is told first; "" where there is none."""
    told = ranking(summary.problems, summary.compiles).first
    return told[0].problem.id if told else ""


def all_problems(summary: Summary) -> str:
    """Return all problems, a line each."""
    return "\n".join(map(line_of, summary.problems)) or "There is none."


def line_of(problem: Problem) -> str:
    """Return a problem in one line, its id first."""
    return f"{problem.id}  {shown_path(problem.place.path)}:{problem.place.line}  {problem.title}"


def shown(reader: Reader, summary: Summary, name: str, what: str) -> str:
    """Return the graph, the guards or the bytecode of a compile: `0/1`. Raises NotThere."""
    try:
        return SHOWN[what](reader, generated.compile_named(reader, summary.launch, name))
    except generated.NotRecorded as error:
        raise NotThere(str(error)) from None


def compared(before: str | None, after: str | None) -> str:
    """Return what is mended, new, and as before, in the newer of two launches. Raises NotThere."""
    with launch(after) as (reader, now):
        program = now.first_run.program
        earlier = [run for run in reader.runs() if run.program == program and run.launch != now.launch]
    if before is None:
        older = [run.launch for run in earlier if run.began < now.first_run.began]
        if not older:
            raise NotThere(f"{program} has one recorded launch: change it, and call record(command) again.")
        before = older[0]
    with launch(before) as (_, then):
        pass
    was, met = ({each.id: each for each in summary.problems} for summary in (then, now))
    rows = [f"before: {_totals(then)}", f"after:  {_totals(now)}"]
    rows += [f"mended  {line_of(each)}" for id, each in was.items() if id not in met]
    rows += [f"new     {line_of(each)}" for id, each in met.items() if id not in was]
    rows += [_of_both(was[id], each) for id, each in met.items() if id in was]
    return "\n".join(rows)


def _of_both(before: Problem, after: Problem) -> str:
    """Return the row of a problem of both launches, with its counts where they differ."""
    then, now = (max(each.count, len(each.compiles)) for each in (before, after))
    word = "fewer" if now < then else "more" if now > then else "stays"
    return f"{word:7} {line_of(after)}{'' if now == then else f'  (×{then} before, ×{now} now)'}"


def _totals(summary: Summary) -> str:
    return f"{summary.totals}  (launch {summary.launch!r})"
