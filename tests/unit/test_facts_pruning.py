"""Old runs go, the oldest first; what still runs stays."""

from __future__ import annotations

import os
import platform
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from dynascope.facts.launches import prune
from dynascope.facts.profile import Profile
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME
from dynascope.facts.writer import Writer

from tests.support.facts import sample


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Five ended launches, 0 to 4."""
    paths = [str(path) for path in sample.write_workspace(tmp_path)]
    for number in range(5):
        writer = Writer(tmp_path / FILE_NAME, sample.new_run(tmp_path, str(number)))
        writer.write(sample.first_compile(*paths))
        writer.close()
    return tmp_path / FILE_NAME


def launches(store: Path) -> list[str]:
    with Reader.open(store) as reader:
        return [run.launch for run in reader.runs()][::-1]


def test_by_count(store: Path):
    assert prune(store, own_run=5, kept_runs=2) == 3
    assert launches(store) == ["3", "4"]
    with Reader.open(store) as reader:
        view = reader.view(str(store.parent / "layers.py"))
        assert view is not None and len(view.facts("graph_breaks")) == 1
        assert reader._connection.execute("SELECT count(DISTINCT run_id) FROM string").fetchone() == (2,)
        assert reader._connection.execute("SELECT count(*) FROM tensor").fetchone() == (10,)
        assert reader._connection.execute("SELECT count(*) FROM document WHERE kind GLOB 'form *'").fetchone() == (4,)


def test_by_size(store: Path):
    assert prune(store, own_run=5, kept_bytes=1) == 4
    assert launches(store) == ["4"]


def test_what_still_runs_stays(store: Path):
    run = sample.new_run(store.parent, "running")
    run.host, run.pid = platform.node(), os.getpid()
    writer = Writer(store, run)
    prune(store, own_run=5, kept_runs=1)
    assert launches(store) == ["4", "running"]
    writer.close()


def run_elsewhere(store: Path, launch: str, *, days_ago: float) -> Writer:
    run = sample.new_run(store.parent, launch)
    run.host, run.pid, run.began = "another-machine", 1, time.time() - days_ago * 24 * 3600
    return Writer(store, run)


def test_a_launch_of_which_a_process_may_run_elsewhere_stays(store: Path):
    run_elsewhere(store, "running elsewhere", days_ago=1).close(finished=False)
    run_elsewhere(store, "gone", days_ago=30).close(finished=False)
    writer = Writer(store, sample.new_run(store.parent, "own"))
    assert prune(store, own_run=writer.run, kept_runs=1) == 6
    assert launches(store) == ["running elsewhere", "own"]
    writer.close()


def test_all_processes_of_the_own_launch_stay(store: Path):
    writers = [Writer(store, sample.new_run(store.parent, "job")) for _ in range(4)]
    for each in writers[:3]:
        each.close()
    prune(store, own_run=writers[3].run, kept_runs=2)
    assert launches(store) == ["job"] * 4
    writers[3].close()


def test_a_run_that_was_removed_meanwhile_begins_again(store: Path):
    paths = [str(path) for path in sample.write_workspace(store.parent)]
    writer = run_elsewhere(store, "long", days_ago=30)
    before = writer.write(sample.first_compile(*paths))
    store_of_other = Writer(store, sample.new_run(store.parent, "own"))
    prune(store, own_run=store_of_other.run, kept_runs=1)
    assert launches(store) == ["long", "own"]  # it has compiled just now
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE compile SET began = 0")
    prune(store, own_run=store_of_other.run, kept_runs=1)
    assert launches(store) == ["own"]
    after = writer.write(sample.first_compile(*paths))
    writer.write_later("0/0", Profile(0.0, [], []))
    with Reader.open(store) as reader:
        assert [run.launch for run in reader.runs()] == ["long", "own"]
        facts = reader.compile(after)
        assert after != before and facts is not None and facts.compile.function
    writer.close()
    store_of_other.close()


def test_nothing_to_do(store: Path):
    assert prune(store, own_run=5) == 0
    assert launches(store) == ["0", "1", "2", "3", "4"]
