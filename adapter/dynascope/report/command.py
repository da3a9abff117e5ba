"""The command `dynascope report`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dynascope.explain.compiles import NOTHING
from dynascope.facts import store
from dynascope.facts.launches import launches as launches_of
from dynascope.facts.reader import Reader
from dynascope.report.sources import Sources, chosen_launch, opened, options
from dynascope.report.summary import summarize


@click.command()
@click.argument("workspace", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--facts", type=click.Path(file_okay=False, path_type=Path), help="Read the facts there.")
@click.option("--launch", metavar="TEXT", help="Report this launch, or the newest of a program (see --launches).")
@click.option("--launches", is_flag=True, help="List the recorded launches.")
@click.option("--all", "tell_all", is_flag=True, help="Tell all problems in full, and the slowest lines to trace.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the problems as JSON; with --all, all facts of every compile."
)
@click.option("--compare", nargs=2, metavar="ID ID", help="Show two compiles of a function side by side: 0/0 0/1.")
@click.option("--graph", metavar="ID", help="Print the graph of a compile: 0/0.")
@click.option("--code", metavar="ID", help="Print the bytecode that Dynamo generated for a compile: 0/0.")
@click.option("--guards", metavar="ID", help="Print the guards of a compile with their costs (see run --guards).")
@click.option(
    "--form",
    nargs=2,
    metavar="ID NAME",
    help='Print what AOTAutograd or Inductor made of the graph of a compile: 0/0 "backward graph"; 0/0 all.',
)
@click.option(
    "--from", "from_line", metavar="FILE:LINE", help="Print what was made of a line: nodes of graphs, kernels, calls."
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write one HTML page.")
def report(
    workspace: Path | None,
    facts: Path | None,
    launch: str | None,
    launches: bool,
    tell_all: bool,
    as_json: bool,
    compare: tuple[str, str] | None,
    graph: str | None,
    code: str | None,
    guards: str | None,
    form: tuple[str, str] | None,
    from_line: str | None,
    html: Path | None,
) -> None:
    """Report what to mend in the newest launch: graph breaks, recompiles and failures."""
    if workspace is not None and workspace.is_file():
        raise click.UsageError(f"{workspace} is no folder. Its newest launch: dynascope report --launch {workspace}")
    with opened(workspace, facts) as reader:
        if launches:  # the newest first, each with the command line of its first process
            for each in launches_of(reader):
                click.echo(f"{each.name}\t{each.first.program}{'' if each.compiling else f'  ({NOTHING})'}")
        elif graph or code or guards or form or from_line:
            asked = {"graph": graph, "code": code, "guards": guards, "from": from_line}
            _print_generated(reader, chosen_launch(reader, launch), asked, form)
        else:
            folder = facts or (store.facts_folder(workspace) if workspace is not None else None)
            chosen = chosen_launch(reader, launch)
            _report(reader, chosen, tell_all, as_json, compare, html, options(launch, folder))


def _report(
    reader: Reader,
    launch: str,
    tell_all: bool,
    as_json: bool,
    compare: tuple[str, str] | None,
    html: Path | None,
    asked: str,
) -> None:
    if compare:
        _print_comparison(reader, launch, *compare)
        return
    summary = summarize(reader, launch)
    if as_json and not tell_all:
        from dynascope.report.told_as_json import told_as_json

        sys.stdout.buffer.write(told_as_json(summary))
    elif as_json:
        from dynascope.report.unmerged import unmerged

        for piece in unmerged(reader, summary):
            sys.stdout.buffer.write(piece)
    elif html is not None:
        from dynascope.report.page import page
        from dynascope.report.profile.measured import measured

        html.write_text(page(summary, Sources(reader), measured(reader, launch)), encoding="utf-8")
        click.echo(f"Written to {html}.")
    else:
        from rich.console import Console

        from dynascope.report.brief import print_brief
        from dynascope.report.terminal import by_command, print_summary

        console = Console(highlight=False, soft_wrap=True)
        if tell_all:
            print_summary(summary, Sources(reader), console, by_command(asked))
        else:
            print_brief(summary, Sources(reader), console, by_command(asked))


def _print_generated(reader: Reader, launch: str, asked: dict[str, str | None], form: tuple[str, str] | None) -> None:
    """Print the graph of a compile, the code of one, the guards of one, and a later form."""
    from dynascope.report import generated

    try:
        texts = {"graph": generated.graph, "code": generated.code, "guards": generated.guards}
        if line := asked.pop("from"):
            click.echo(generated.made_of(reader, launch, line), nl=False)
        for what, name in asked.items():
            if name:
                click.echo(texts[what](reader, generated.compile_named(reader, launch, name)), nl=False)
        if form:
            click.echo(generated.forms(reader, generated.compile_named(reader, launch, form[0]), form[1]), nl=False)
    except generated.NotRecorded as error:
        raise click.ClickException(str(error)) from None


def _print_comparison(reader: Reader, launch: str, left: str, right: str) -> None:
    """Print two compiles side by side.

    Their names are those of the report, and may have an attempt's number: `0/0_1`.
    """
    from dynascope.explain.comparison import columns, summary
    from dynascope.facts.comparison.recorded import NotComparable, compared, find_pair
    from dynascope.facts.process_names import as_shown, compile_names

    compiles = reader.compiles(launch)
    runs = [run for run in reader.runs() if run.launch == launch]
    names = compile_names(compiles, runs)
    try:
        asked, other = (as_shown(name, compiles, runs, reader) for name in (left, right))
        pair = find_pair(compiles, asked, other, lambda each: names[each.id])
        found = compared(reader, *pair, names=(left, right))
    except NotComparable as error:
        raise click.ClickException(str(error)) from None
    click.echo("\n".join([*summary(found), "", *columns(found.comparison, Sources(reader).line)]))
