"""Remove runs: the oldest ones until the store is within the limits of runs and bytes, or those that the user names."""

from __future__ import annotations

import os
import platform
import sqlite3
from pathlib import Path

from dynascope.facts import store
from dynascope.facts.schema import BY_COMPILE, BY_SOURCE

KEPT_RUNS = 200
KEPT_BYTES = 512 << 20


def prune(path: Path, own_run: int, kept_runs: int = KEPT_RUNS, kept_bytes: int = KEPT_BYTES) -> int:
    """Remove old runs, never `own_run` or one whose process runs here; return how many."""
    connection = store.open_for_writing(path)
    try:
        candidates = connection.execute(
            "SELECT id, host, pid, ended FROM run WHERE id != ? ORDER BY id", (own_run,)
        ).fetchall()
        surplus = len(candidates) + 1 - kept_runs
        removed = 0
        for run, host, pid, ended in candidates:
            if removed >= surplus and _size(connection) <= kept_bytes:
                break
            if ended is None and is_running(host, pid):
                continue
            _remove(connection, run)
            removed += 1
        if removed:
            connection.execute("PRAGMA incremental_vacuum").fetchall()
        return removed
    except sqlite3.OperationalError:
        return 0  # other processes write all the time: the next run tries again
    finally:
        connection.close()


def remove(path: Path, launch: str | None = None) -> int:
    """Remove a launch, by default all, but no run whose process runs here; return how many stay."""
    connection = store.open_for_writing(path)
    try:
        rows = connection.execute(
            "SELECT id, host, pid, ended FROM run WHERE launch = :launch OR :launch IS NULL", {"launch": launch}
        ).fetchall()
        kept = [run for run, host, pid, ended in rows if ended is None and is_running(host, pid)]
        for run, *_ in rows:
            if run not in kept:
                _remove(connection, run)
        connection.execute("PRAGMA incremental_vacuum").fetchall()
        return len(kept)
    finally:
        connection.close()


def _size(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def is_running(host: str, pid: int) -> bool:
    """Whether a process runs on this machine."""
    if host != platform.node():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remove(connection: sqlite3.Connection, run: int) -> None:
    """Remove one run, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        compiles = "(SELECT id FROM compile WHERE run_id = ?)"
        for table in BY_COMPILE:
            connection.execute(f"DELETE FROM {table} WHERE compile_id IN {compiles}", (run,))
        for table in BY_SOURCE:
            connection.execute(
                f"DELETE FROM {table} WHERE (source_id, compile_id) IN "
                f"(SELECT source_id, compile_id FROM compile_source WHERE compile_id IN {compiles})",
                (run,),
            )
        connection.execute(f"DELETE FROM compile_source WHERE compile_id IN {compiles}", (run,))
        connection.execute("DELETE FROM compile WHERE run_id = ?", (run,))
        connection.execute("DELETE FROM string WHERE run_id = ?", (run,))
        connection.execute("DELETE FROM run WHERE id = ?", (run,))
        connection.execute(
            "DELETE FROM source WHERE id NOT IN (SELECT source_id FROM compile_source) "
            "AND id NOT IN (SELECT source_id FROM compile)"
        )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
