"""The command `dynascope check`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dynascope.facts.counts import counted
from dynascope.report.check import baseline
from dynascope.report.check.baseline import BaselineError
from dynascope.report.check.formats import FORMATS
from dynascope.report.check.options import limit_options, limits_of
from dynascope.report.check.outcome import Limits
from dynascope.report.sources import Sources, chosen_launch, opened
from dynascope.report.summary import summarize


@click.command()
@click.argument("workspace", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--facts", type=click.Path(file_okay=False, path_type=Path), help="Read the facts there.")
@click.option("--launch", metavar="TEXT", help="Check this launch, or the newest of a program (see report --launches).")
@limit_options
@click.option("--update", is_flag=True, help="Write the problems of these kinds into --baseline, and pass.")
@click.option(
    "--format", "style", type=click.Choice(list(FORMATS)), default="text", show_default=True, help="How to tell it."
)
def check(
    workspace: Path | None,
    facts: Path | None,
    launch: str | None,
    fail_on: tuple[str, ...] | None,
    most: tuple[tuple[str, int], ...],
    baseline: Path | None,
    update: bool,
    style: str,
) -> None:
    """Exit with 1 where a launch has graph breaks, recompiles or failures; for CI.

    Graph breaks, recompiles and failures fail unless --fail-on names other kinds. A launch in which nothing was
    compiled fails. With --baseline, problems that are in that file do not count; they
    are told apart by id, so that lines may move, and by torch version.
    """
    if update and baseline is None:
        raise click.UsageError("--update needs --baseline FILE.")
    sys.exit(checked(workspace, facts, launch, limits_of(fail_on, most, baseline), update, style))


def checked(
    workspace: Path | None, facts: Path | None, launch: str | None, limits: Limits, update: bool, style: str
) -> int:
    """Print the outcome, and return the exit code."""
    with opened(workspace, facts) as reader:
        summary = summarize(reader, chosen_launch(reader, launch))
        try:
            if update and limits.baseline is not None:
                rows = limits.limited(summary)
                baseline.update(limits.baseline, summary.first_run.torch_version, rows)
                click.echo(
                    f"Known in {limits.baseline}: {counted(len(rows), 'problem')} of {summary.first_run.program}."
                )
                return 0
            outcome = limits.check(summary)
        except BaselineError as error:
            raise click.UsageError(str(error)) from None
        click.echo(FORMATS[style](outcome, Sources(reader)))
        return 0 if outcome.passes else 1
