"""The command `dynascope explain`."""

from __future__ import annotations

from pathlib import Path

import click

from dynascope.explain.problem import Problem
from dynascope.facts.reader import Reader
from dynascope.report.sources import Sources, chosen_launch, is_at, opened, options
from dynascope.report.summary import Summary, summarize


@click.command()
@click.argument("what", metavar="ID|FILE:LINE")
@click.option("--facts", type=click.Path(file_okay=False, path_type=Path), help="Read the facts there.")
@click.option("--launch", metavar="TEXT", help="Of this launch, or the newest of a program (see report --launches).")
def explain(what: str, facts: Path | None, launch: str | None) -> None:
    """Tell all of one problem: why, from where it is called, what helps, what follows from it.

    ID is one that `dynascope report` prints, or its beginning; FILE:LINE a line with problems, or FILE.
    """
    from rich.console import Console

    from dynascope.report.terminal import print_problems

    with opened(None, facts) as reader:
        summary = summarize(reader, chosen_launch(reader, launch))
        found = asked_for(summary, what)
        file = what.rpartition(":")[0] or what
        if not found and launch is None and any(run.program.split(" ")[0] == file for run in reader.runs()):
            summary = summarize(reader, chosen_launch(reader, file))
            found = asked_for(summary, what)
        if not found:
            asked = options(summary.launch, facts)
            raise click.ClickException(
                f"There is no problem {what} in the launch of {summary.first_run.program}. See: dynascope report{asked}"
            )
        console = Console(highlight=False, soft_wrap=True)
        print_problems(found, summary, Sources(reader), console)


def explained(reader: Reader, summary: Summary, what: str) -> str:
    """Return the text of the problems that are asked for. Raises LookupError if there is none."""
    from dynascope.report.terminal import print_problems, printed

    found = asked_for(summary, what)
    if not found:
        raise LookupError(f"There is no problem {what!r} among {[each.id for each in summary.problems]}.")
    return printed(lambda console: print_problems(found, summary, Sources(reader), console))


def asked_for(summary: Summary, what: str) -> list[Problem]:
    """Return problems by id, line or file, and the problems that follow from them."""
    file, _, line = what.rpartition(":")
    if not line.isdecimal():
        file, line = what, ""
    if not what:
        return []
    own = [each for each in summary.problems if each.id == what]
    own = own or [each for each in summary.problems if each.id.startswith(what)]
    own = own or [each for each in summary.problems if file and is_at(each.place, file, line)]
    own = own or [
        each
        for each in summary.problems
        if file and any(note.place is not None and is_at(note.place, file, line) for note in each.notes)
    ]
    roots = {each.id for each in own}
    return [each for each in summary.problems if each.id in roots or each.root in roots]
