"""Old runs go, the oldest first; what still runs stays."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest
from dynascope.facts.launches import prune
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


def test_nothing_to_do(store: Path):
    assert prune(store, own_run=5) == 0
    assert launches(store) == ["0", "1", "2", "3", "4"]
