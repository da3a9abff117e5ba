"""Cells of a notebook keep their text and their name with the facts, for reports of other processes."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from dynascope.facts.file_names import name_files
from dynascope.facts.reader import Reader
from dynascope.facts.writer import Writer
from dynascope.report.command import report

from tests.support.facts import sample

CELL = "/tmp/ipykernel_4711/123.py"


@pytest.fixture(autouse=True)
def _no_names() -> Iterator[None]:
    yield
    name_files(lambda path: None)


def recorded(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Record a compile of a cell as its kernel does, and forget the cell."""
    monkeypatch.setitem(linecache.cache, CELL, (len(text), None, text.splitlines(keepends=True), CELL))
    name_files({CELL: "In [3]"}.get)
    store = folder / ".dynascope" / "facts.db"
    writer = Writer(store, sample.new_run(folder))
    writer.write(sample.first_compile("/nowhere/model.py", CELL))
    writer.close()
    monkeypatch.delitem(linecache.cache, CELL)
    name_files(lambda path: None)
    return store


def test_a_report_elsewhere_names_the_cell_and_shows_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = recorded(tmp_path, sample.LAYERS, monkeypatch)
    told = CliRunner().invoke(report, ["--facts", str(store.parent), "--all"]).output
    assert "In [3]:5" in told and "if h.sum() > 0:" in told and "ipykernel" not in told
    assert "changed" not in told


def test_a_text_that_is_too_long_or_no_text_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = recorded(tmp_path, f"{sample.LAYERS}# {'x' * (1 << 18)}\n", monkeypatch)
    with Reader.open(store) as reader:
        assert reader.text_of(CELL) == "" and reader.given_names() == {CELL: "In [3]"}
    store = recorded(tmp_path / "odd", f"{sample.LAYERS}# \ud800\n", monkeypatch)
    with Reader.open(store) as reader:
        assert reader.text_of(CELL) == f"{sample.LAYERS}# ?\n"
