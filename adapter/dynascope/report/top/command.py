"""The command `dynascope top`."""

from __future__ import annotations

import sys
import time

import click

_SECONDS = 1.0
"""Between two looks."""
_NOBODY = "No process of yours records its compiles now. Start a program with: dynascope run PROGRAM"


@click.command()
@click.argument("pids", nargs=-1, type=int, metavar="[PID]...")
@click.option("--once", is_flag=True, help="Look once, instead of once a second until you press Ctrl+C.")
@click.option("--json", "as_json", is_flag=True, help="Look once, and print all that is known as JSON.")
def top(pids: tuple[int, ...], once: bool, as_json: bool) -> None:
    """Show what running programs compile now, and where the time went so far.

    It tells the line that Dynamo traces, or the phase of torch. With PIDs, of these processes and their children; else
    of every process of yours that is recorded: by `dynascope run`, by DYNASCOPE_RECORD=1 or by a debug session. Nothing
    runs in the programs for it.
    """
    from dynascope.report.top.processes import NotShown, processes

    try:
        found = processes(pids)
    except NotShown as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        import msgspec

        from dynascope.report.top.screen import snapshot

        click.echo(msgspec.json.format(msgspec.json.encode([snapshot(each) for each in found])))
        return
    if not found:
        raise click.ClickException(_NOBODY)
    from rich.console import Console
    from rich.live import Live

    from dynascope.report.top.screen import shown

    if once or not sys.stdout.isatty():
        Console(highlight=False, soft_wrap=True).print(shown(found))
        return
    console = Console(highlight=False)
    try:
        with Live(shown(found), console=console, auto_refresh=False) as live:
            while found:
                time.sleep(_SECONDS)
                found = processes(pids)
                live.update(shown(found), refresh=True)
    except NotShown as error:  # they have ended
        console.print(str(error))
    except KeyboardInterrupt:
        pass
