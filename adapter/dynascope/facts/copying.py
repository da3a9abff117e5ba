"""Copy what a store has of a run to another store, as a part of another launch."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from msgspec import structs

from dynascope.facts import model, store
from dynascope.facts.moved import MovedFolders
from dynascope.facts.reader import Reader
from dynascope.facts.writer import Writer

_SOURCES = """
    SELECT DISTINCT s.path, s.line_hashes, s.digest, s.text, s.name FROM source s
    JOIN compile_source u ON u.source_id = s.id JOIN compile c ON c.content = u.compile_id WHERE c.run_id = ?
    ORDER BY s.id"""


def copy_run(reader: Reader, run: model.Run, to: Path | sqlite3.Connection, launch: str, after: int = 0) -> int:
    """Copy a run with all facts to a store in a file, or in memory; return how many compiles.

    `after`: the number of the last compile that is left out.

    Raises StoreUnreadable, OSError and sqlite3.Error.
    """
    sources = reader.execute(_SOURCES, (run.id,)).fetchall()
    writer = Writer(to, structs.replace(run, launch=launch), {each[0]: each[1] for each in sources}.get)
    try:
        numbers = [number for number, _, _ in sorted(reader.compile_ids(run.id)) if number > after]
        for number in numbers:
            writer.copy(reader, number)
    finally:
        if isinstance(to, Path):
            writer.close(finished=False)
    _copy_texts(to, [(text, name, source, digest) for source, _, digest, text, name in sources if text or name])
    return len(numbers)


def _copy_texts(to: Path | sqlite3.Connection, texts: list[tuple[str, str, str, bytes]]) -> None:
    """Store the texts and names of code that has no file, which this process does not know."""
    connection: sqlite3.Connection = store.open_for_writing(to) if isinstance(to, Path) else to
    try:
        connection.executemany("UPDATE source SET text = ?, name = ? WHERE path = ? AND digest = ?", texts)
    finally:
        if connection is not to:
            connection.close()


def copy_newest_launch(source: Path, path: Path, launch: str) -> tuple[int, int]:
    """Copy the newest launch that has compiles; return how many runs and compiles it has.

    Raises StoreMissing, StoreUnreadable, OSError and sqlite3.Error.
    """
    with Reader.open(source) as reader, reader.unchanging():
        reader.moved = MovedFolders(source, [])  # paths stay those of the program's machine
        newest = reader.newest_launch(compiled=True)
        runs = [run for run in reversed(reader.runs()) if run.launch == newest]
        if not runs:
            raise store.StoreMissing(f"Nothing was compiled in the runs that {source} has.")
        return len(runs), sum(copy_run(reader, run, path, launch) for run in runs)
