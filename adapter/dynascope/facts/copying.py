"""Copy what a store has of a run to another store, as a part of another launch."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from dynascope.facts import model, store
from dynascope.facts.reader import Reader
from dynascope.facts.writer import Writer


def copy_run(reader: Reader, run: model.Run, path: Path, launch: str) -> int:
    """Copy a run with all facts to the store at `path`; return how many compiles.

    Raises StoreUnreadable, OSError and sqlite3.Error.
    """
    hashes = dict(reader.execute("SELECT path, line_hashes FROM source ORDER BY id"))
    writer = Writer(path, structs.replace(run, launch=launch), hashes.get)
    try:
        numbers = [number for number, _, _ in sorted(reader.compile_ids(run.id))]
        for number in numbers:
            writer.copy(reader, number)
    finally:
        writer.close(finished=False)
    return len(numbers)


def copy_newest_launch(source: Path, path: Path, launch: str) -> tuple[int, int]:
    """Copy the newest launch that has compiles; return how many runs and compiles it has.

    Raises StoreMissing, StoreUnreadable, OSError and sqlite3.Error.
    """
    with Reader.open(source) as reader, reader.unchanging():
        newest = reader.newest_launch(compiled=True)
        runs = [run for run in reversed(reader.runs()) if run.launch == newest]
        if not runs:
            raise store.StoreMissing(f"Nothing was compiled in the runs that {source} has.")
        return len(runs), sum(copy_run(reader, run, path, launch) for run in runs)
