"""The commands `dynascope run` and `dynascope import`."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from dynascope.facts import store
from dynascope.facts.counts import counted
from dynascope.recording.checked_run import run_and_check
from dynascope.report.check.options import limit_options, limits_of
from dynascope.wire.command_lines import module_or_script

_ARGUMENTS = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": ["-h", "--help"]}


@click.command("run", context_settings=_ARGUMENTS)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option("-c", "code", metavar="CODE", help="Run a piece of code, as `python -c` does.")
@click.option("--python", metavar="PATH", default=sys.executable, help="The program's interpreter (default: this one).")
@click.option("--facts", type=click.Path(file_okay=False, path_type=Path), help="Write facts there, not to .dynascope.")
@click.option("--no-graphs", is_flag=True, help="Record neither graphs nor generated code.")
@click.option("--guards", is_flag=True, help="Record what guards cost, too: each compile takes longer.")
@limit_options
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    module: str | None,
    code: str | None,
    python: str,
    facts: Path | None,
    no_graphs: bool,
    guards: bool,
    fail_on: tuple[str, ...] | None,
    most: tuple[tuple[str, int], ...],
    baseline: Path | None,
    arguments: tuple[str, ...],
) -> None:
    """Run a Python program (FILE, -m MODULE, pytest, torchrun …) and record Dynamo's decisions.

    With --fail-on, --max or --baseline it exits with 1 where `dynascope check` would, unless the program itself fails:
    its exit code is kept.
    """
    if module is not None:
        target = ["-m", module, *arguments]
    elif code is not None:
        target = ["-c", code, *arguments]
    elif arguments:
        target = [*_program(arguments[0]), *arguments[1:]]
    else:
        raise click.UsageError("Say what to run: dynascope run FILE, or dynascope run -m MODULE.")
    # absolute, because the program may change its working directory before it compiles
    os.environ[store.FOLDER_VARIABLE] = str((facts or store.facts_folder()).absolute())
    if no_graphs and guards:
        raise click.UsageError("Give --no-graphs or --guards, not both.")
    if no_graphs or guards:
        os.environ["DYNASCOPE_RECORD"] = "facts" if no_graphs else "guards"
    sys.stdout.flush()
    command = [python, "-m", "dynascope.agent.session.startup.record_launcher", *target]
    try:
        if fail_on is not None or most or baseline is not None:
            sys.exit(run_and_check(command, limits_of(fail_on, most, baseline)))
        if os.name == "posix":
            os.execvp(python, command)
        sys.exit(subprocess.call(command))
    except OSError as error:
        raise click.ClickException(f"Cannot start {python}: {error.strerror}.") from None


def _program(name: str) -> list[str]:
    """Return Python's arguments for a file or for the command of an installed package."""
    if os.path.exists(name):
        return [name]
    module, path = module_or_script(name)
    if module is not None:
        return ["-m", module]
    if path is not None:
        return [path]
    raise click.ClickException(f"There is no file {name!r} here, and no Python command of that name.")


@click.command("import")
@click.option("--facts", type=click.Path(file_okay=False, path_type=Path), help="Write facts there, not to .dynascope.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def import_trace(facts: Path | None, folders: tuple[Path, ...]) -> None:
    """Import the logs that a program wrote under TORCH_TRACE=DIR, on this machine or another.

    Or the newest run of each .dynascope folder: those of the hosts of one job become one run, with all its ranks.
    """
    path = facts / store.FILE_NAME if facts is not None else store.facts_path()
    launch = f"{time.strftime('%Y-%m-%d %H:%M:%S')} import of {', '.join(str(each.resolve()) for each in folders)}"
    known = {folder.resolve(): _store_in(folder) for folder in folders}
    stores = [each for each in known.values() if each is not None]
    if stores and None in known.values():
        missing = next(folder for folder, each in known.items() if each is None)
        raise click.ClickException(
            f"{stores[0]} has recorded facts, and {missing} has none. Import torch's logs with a command of their own."
        )
    if stores:
        _import_stores(stores, path, launch)
    for folder in () if stores else folders:
        _import_logs(folder, path, launch)


def _store_in(folder: Path) -> Path | None:
    """Return this folder, or its `.dynascope`, if it has recorded facts; else None."""
    tried = (folder.resolve(), folder.resolve() / store.FOLDER_NAME)
    return next((each for each in tried if (each / store.FILE_NAME).exists()), None)


def _import_stores(folders: Sequence[Path], path: Path, launch: str) -> None:
    from dynascope.facts.copying import copy_newest_launch

    runs = compiles = 0
    own = next((each for each in folders if path.exists() and path.samefile(each / store.FILE_NAME)), None)
    if own is not None:
        raise click.ClickException(f"{own} is where the facts would be written. Choose another with --facts.")
    for folder in folders:
        try:
            copied = copy_newest_launch(folder / store.FILE_NAME, path, launch)
        except store.StoreError as error:
            raise click.ClickException(str(error)) from None
        except (OSError, sqlite3.Error) as error:
            raise click.ClickException(f"Cannot import {folder}: {error}.") from None
        runs, compiles = runs + copied[0], compiles + copied[1]
    made = f"{counted(compiles, 'compile')} of {counted(runs, 'process', 'processes')}"
    click.echo(f"{made}, from {counted(len(folders), 'host')}, are in {path}.")


def _import_logs(folder: Path, path: Path, launch: str) -> None:
    from dynascope.recording.importing import import_log
    from dynascope.recording.torch_trace import logs_in

    logs = logs_in(folder)
    if not logs:
        raise click.ClickException(
            f"There is no dedicated_log_torch_trace_*.log in {folder}. Run the program with TORCH_TRACE={folder} first."
        )
    compiles = breaks = 0
    for log in logs:
        try:
            imported = import_log(log, path, launch)
        except store.StoreError as error:
            raise click.ClickException(str(error)) from None
        except (OSError, sqlite3.Error) as error:
            raise click.ClickException(f"Cannot import {log}: {error}.") from None
        compiles += imported.compiles
        breaks += imported.graph_breaks
        if imported.damaged:
            click.echo(f"{log}: {imported.damaged} damaged entries left out.", err=True)
    made = f"{counted(compiles, 'compile')} and {counted(breaks, 'graph break')}"
    click.echo(f"{made} of {counted(len(logs), 'process', 'processes')} are in {path}.")
