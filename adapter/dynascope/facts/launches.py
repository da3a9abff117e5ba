"""List the launches of a store with sums of what was compiled in each, and remove those that are old or not wanted."""

from __future__ import annotations

import platform
import sqlite3
import time
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, field

from dynascope import processes
from dynascope.facts import model, store
from dynascope.facts.compiler_parts import longest_first
from dynascope.facts.reader import Reader, listed
from dynascope.facts.schema import BY_COMPILE, BY_SOURCE

LAUNCH_VARIABLE = "DYNASCOPE_LAUNCH"
"""The environment variable with the launch's name: set by the first of its processes, and inherited by the others."""
KEPT_RUNS = 200
KEPT_BYTES = 512 << 20
_SECONDS_ELSEWHERE = 7 * 24 * 3600.0
"""How long after its latest compile a process of another machine, whose end is not recorded, may still run."""


def new_launch() -> str:
    """Return a name that no other launch has, which begins with the time."""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S')} {uuid.uuid4().hex[:8]}"


def prune(path: Path, own_run: int, kept_runs: int = KEPT_RUNS, kept_bytes: int = KEPT_BYTES) -> int:
    """Remove old launches with all their processes; return how many processes.

    Neither the launch of `own_run` is removed nor one of which a process runs, or may run on another machine.
    """
    connection = store.open_for_writing(path)
    try:
        rows = connection.execute(
            "SELECT id, launch, host, pid, ended, max(began, coalesce((SELECT max(began) FROM compile "
            "WHERE run_id = run.id), 0)) FROM run ORDER BY id"
        ).fetchall()
        own = next((launch for run, launch, *_ in rows if run == own_run), None)
        launches: dict[str, list[int]] = {}
        for run, launch, *_ in rows:
            launches.setdefault(launch, []).append(run)
        for launch in {launch for _, launch, *process in rows if launch == own or _may_run(*process)}:
            del launches[launch]
        surplus = len(rows) - kept_runs
        removed = 0
        for runs in launches.values():
            if removed >= surplus and _size(connection) <= kept_bytes:
                break
            with _transaction(connection):
                _remove(connection, runs)
            removed += len(runs)
        if removed:
            connection.execute("PRAGMA incremental_vacuum").fetchall()
        return removed
    except sqlite3.OperationalError:
        return 0  # other processes write all the time: the next run tries again
    finally:
        connection.close()


def remove(path: Path, launch: str | None = None) -> int:
    """Remove a launch, by default all; return how many runs stay.

    No run is removed whose process runs here, nor the other ranks of its job: their facts are stored together.
    """
    connection = store.open_for_writing(path)
    try:
        with _transaction(connection):
            rows = connection.execute(
                "SELECT id, launch, rank IS NULL, host, pid, ended FROM run WHERE launch = :launch OR :launch IS NULL",
                {"launch": launch},
            ).fetchall()
            running = {row[0]: row[1:3] for row in rows if row[5] is None and is_running(*row[3:5])}
            jobs = {job for job in running.values() if not job[1]}
            kept = [run for run, *job, _, _, _ in rows if run in running or tuple(job) in jobs]
            _remove(connection, [run for run, *_ in rows if run not in kept])
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


def _may_run(host: str, pid: int, ended: float | None, latest: float) -> bool:
    """Whether a process runs, or may run on another machine.

    `latest` is when it last compiled.
    """
    if ended is not None:
        return False
    return is_running(host, pid) if host == platform.node() else time.time() - latest < _SECONDS_ELSEWHERE


def is_running(host: str, pid: int) -> bool:
    """Whether a process runs on this machine."""
    return host == platform.node() and processes.exists(pid)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _remove(connection: sqlite3.Connection, runs: Collection[int]) -> None:
    of_runs = f"run_id IN ({listed(runs)})"
    compiles = f"(SELECT id FROM compile WHERE {of_runs})"
    for table in BY_COMPILE:
        connection.execute(f"DELETE FROM {table} WHERE compile_id IN {compiles}")
    for table in BY_SOURCE:
        connection.execute(
            f"DELETE FROM {table} WHERE (source_id, compile_id) IN "
            f"(SELECT source_id, compile_id FROM compile_source WHERE compile_id IN {compiles})"
        )
    connection.execute(f"DELETE FROM compile_source WHERE compile_id IN {compiles}")
    for table in ("compile", "string"):
        connection.execute(f"DELETE FROM {table} WHERE {of_runs}")
    connection.execute(f"DELETE FROM run WHERE id IN ({listed(runs)})")
    connection.execute(
        "DELETE FROM source WHERE id NOT IN (SELECT source_id FROM compile_source) "
        "AND id NOT IN (SELECT source_id FROM compile)"
    )


_COMPILING = "SELECT id FROM run WHERE EXISTS (SELECT 1 FROM compile WHERE run_id = run.id)"
_COMPILES = f"""
    SELECT run_id, sum(status IN {model.COMPILES!r}), sum(status = 'skipped'), sum(status = 'failed'), sum(graphs),
    sum(seconds) FROM compile c WHERE {{shown}} GROUP BY run_id"""
# CROSS: SQLite would look in each run for the compile of each break
_BREAKS = """
    SELECT run_id, sum(count) FROM compile c CROSS JOIN graph_break b ON b.compile_id = c.content
    WHERE {shown} GROUP BY run_id"""
_RECOMPILES = """
    SELECT run_id, count(DISTINCT c.id) FROM compile c CROSS JOIN recompile r ON r.compile_id = c.content
    WHERE NOT limit_reached AND {shown} GROUP BY run_id"""
# a rank's compile that is another's alike has that one's profile, and its own time
_OWN_TIME = "CASE WHEN p.profile > 0 OR k.seconds = 0 THEN {count} ELSE {own} / k.seconds END"
_PARTS = f"""
    SELECT shown.run_id, part, profile > 0, sum(p.seconds * {_OWN_TIME.format(count="count", own="own")}) FROM
        (SELECT min(run_id) AS run_id, content, count(*) AS count, sum(seconds) AS own FROM compile c
         WHERE {{shown}} GROUP BY content) AS shown
        JOIN compile k ON k.id = shown.content
        CROSS JOIN part_time p ON p.compile_id = k.id GROUP BY shown.run_id, part, profile > 0"""
_SUMS = (
    (_COMPILES, ("compiles", "skipped", "failed", "graphs", "seconds")),
    (_BREAKS, ("breaks",)),
    (_RECOMPILES, ("recompiles",)),
)


class Launch(Struct):
    """The processes that one command started, oldest first, and sums over them."""

    runs: list[model.Run]
    compiles: int = 0
    skipped: int = 0
    failed: int = 0
    graphs: int = 0
    breaks: int = 0
    recompiles: int = 0
    seconds: float = 0.0
    seconds_later: float = 0.0
    """How long backwards and kernels were compiled after the compiles had ended."""
    parts: dict[str, float] = field(default_factory=dict)
    """The seconds in each part of the compiler, with what was compiled later, the longest first."""
    compiling: list[model.Run] = []
    """The processes that have compiles, or skipped frames. Ranks that compiled the same count once in the sums."""

    @property
    def name(self) -> str:
        return self.first.launch

    @property
    def whole(self) -> float:
        """Return the seconds of all that was compiled, at once and later."""
        return self.seconds + self.seconds_later

    @property
    def first(self) -> model.Run:
        """Return the process that was started first: its command line is the user's."""
        return self.runs[0]

    @property
    def is_running(self) -> bool:
        """Whether a process of it runs on this machine, and is still recorded."""
        return any(each.ended is None and is_running(each.host, each.pid) for each in self.runs)


def launches(reader: Reader) -> list[Launch]:
    """Return all launches of a store, the newest first."""
    found: dict[str, Launch] = {}
    of_run: dict[int, tuple[Launch, model.Run]] = {}
    for run in reader.runs():
        launch = found.setdefault(run.launch, Launch([]))
        launch.runs.append(run)
        of_run[run.id] = launch, run
    for each in found.values():
        each.runs.sort(key=lambda run: run.began)
    # a run that begins meanwhile is not known yet
    for (number,) in reader.execute(_COMPILING):
        if number in of_run:
            launch, run = of_run[number]
            launch.compiling.append(run)
    shown = f"c.run_id IN ({listed(reader.shown_runs())})"
    for query, names in _SUMS:
        for number, *sums in reader.execute(query.format(shown=shown)):
            if number in of_run:
                _add_sums(of_run[number][0], names, sums)
    for number, part, is_later, seconds in reader.execute(_PARTS.format(shown=shown)):
        if number in of_run:
            _add_time(of_run[number][0], part, seconds, bool(is_later))
    return list(found.values())


def _add_sums(launch: Launch, names: Iterable[str], sums: Iterable[float]) -> None:
    for name, value in zip(names, sums, strict=True):
        setattr(launch, name, getattr(launch, name) + value)


def _add_time(launch: Launch, part: str, seconds: float, is_later: bool) -> None:
    launch.parts = longest_first(launch.parts | {part: launch.parts.get(part, 0.0) + seconds})
    launch.seconds_later += seconds if is_later else 0.0


def breaks_by_compile(reader: Reader, launch: str) -> dict[int, int]:
    """Return how many graph breaks each compile of a launch has that has any."""
    where = reader.in_launch("graph_break", launch)
    counts = dict(reader.execute(f"SELECT compile_id, sum(count) FROM graph_break WHERE {where} GROUP BY compile_id"))
    numbers = reader.numbers_of_contents(launch)
    return {number: count for each, count in counts.items() for number in numbers.get(each, (each,))}


def seconds_by_compile(reader: Reader, launch: str, part: str) -> dict[int, float]:
    """Return the seconds of each compile of a launch in a part of the compiler."""
    own = _OWN_TIME.format(count=1, own="c.seconds")
    query = f"""
        SELECT c.id, sum(p.seconds * {own}) FROM compile c JOIN compile k ON k.id = c.content
        CROSS JOIN part_time p ON p.compile_id = k.id
        WHERE p.part = ? AND c.run_id IN ({listed(reader.shown_runs(launch))}) GROUP BY c.id"""
    return dict(reader.execute(query, (part,)))
