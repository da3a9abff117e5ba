"""Open the facts that a command shows, and choose the launch; errors are those of the command line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from dynascope.facts import store
from dynascope.facts.reader import Reader


@contextmanager
def opened(workspace: Path | None, folder: Path | None) -> Iterator[Reader]:
    """Open the facts in `folder`, or those of a workspace; None: of the current folder."""
    path = folder / store.FILE_NAME if folder is not None else store.facts_path(workspace)
    try:
        with Reader.open(path) as reader, reader.unchanging():
            yield reader
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None
    except sqlite3.DatabaseError as error:
        raise click.ClickException(f"{path} is damaged ({error}). Move it away or delete it.") from None


def chosen_launch(reader: Reader, asked: str | None) -> str:
    """Return the launch of this name, or the newest of this program; None asks for the newest."""
    launch = asked or reader.newest_launch()
    if launch is None:
        raise click.ClickException("No program has been recorded in it.")
    runs = reader.runs()  # the newest first
    found = next((run.launch for run in runs if run.launch == launch), None)
    found = found or next((run.launch for run in runs if run.program == launch), None)
    if found is None:
        raise click.ClickException(f"There is no launch {launch!r}. See: dynascope report --launches")
    return found
