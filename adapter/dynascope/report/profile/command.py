"""The command `dynascope profile`."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from dynascope.report.sources import chosen_launch, opened


@click.command()
@click.argument("workspace", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--facts", type=click.Path(file_okay=False, path_type=Path), help="Read the facts there.")
@click.option("--launch", metavar="TEXT", help="Show this launch, not the newest (dynascope report --launches).")
@click.option("--json", "as_json", is_flag=True, help="Print the tree of each compile, as JSON.")
@click.option("--chrome", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write a Chrome trace.")
@click.option("--pstats", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it for pstats.")
def profile(
    workspace: Path | None,
    facts: Path | None,
    launch: str | None,
    as_json: bool,
    chrome: Path | None,
    pstats: Path | None,
) -> None:
    """Show where the time of compiles went: by function, line and phase of torch."""
    from dynascope.report.profile.measured import chrome_trace, measured, pstats_dump

    with opened(workspace, facts) as reader:
        launch = chosen_launch(reader, launch)
        found = measured(reader, launch)
        if not found:
            raise click.ClickException("Nothing was compiled in this launch, or it was recorded without times.")
        if as_json:
            rows = [{"name": each.name, "compile": each.compile, "trees": each.roots} for each in found]
            click.echo(msgspec.json.format(msgspec.json.encode(rows)))
        if chrome is not None:
            chrome.write_text(json.dumps(chrome_trace(found)), encoding="utf-8")
            click.echo(f"Written to {chrome}: open it in Perfetto or chrome://tracing.", err=as_json)
        if pstats is not None:
            pstats.write_bytes(pstats_dump(found))
            click.echo(f"Written to {pstats}: read it with python -m pstats {pstats}.", err=as_json)
        if not (as_json or chrome or pstats):
            from rich.console import Console

            from dynascope.report.profile.terminal import print_profile
            from dynascope.report.sources import Sources

            lines = reader.facts("line_times", launch)
            print_profile(found, lines, Sources(reader), Console(highlight=False, soft_wrap=True))
