"""The hashes of files are those of their import, and Python's own loader is as before afterwards."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from dynascope.agent.recorder.imported_sources import ImportedSources
from dynascope.facts.model import hash_source


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path.resolve() / "hashed_when_imported.py"
    path.write_text("a = 1\n")
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    return path


def test_an_edit_after_the_import_does_not_count_nor_does_a_second_begin(module: Path) -> None:
    before, sources = SourceFileLoader.path_stats, ImportedSources()
    for _ in range(2):
        sources.begin()
        importlib.import_module(module.stem)
        module.write_text("b = 2\n")
        sources.end()
        assert sources.hashes_of(str(module)) == hash_source(b"a = 1\n")
    assert SourceFileLoader.path_stats is before


def test_a_module_that_is_loaded_again_counts_as_it_is_then(module: Path) -> None:
    sources = ImportedSources()
    sources.begin()
    loaded = importlib.import_module(module.stem)
    module.write_text("b = 2 + 3\n")
    importlib.reload(loaded)
    sources.end()
    assert sources.hashes_of(str(module)) == hash_source(b"b = 2 + 3\n")


def test_what_others_have_wrapped_meanwhile_stays(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SourceFileLoader, "path_stats", SourceFileLoader.path_stats)
    sources = ImportedSources()
    sources.begin()
    ours = SourceFileLoader.path_stats
    SourceFileLoader.path_stats = wrapper = lambda loader, path: ours(loader, path)  # type: ignore[method-assign]
    sources.end()
    assert SourceFileLoader.path_stats is wrapper
    importlib.import_module(module.stem)
    assert sources.hashes_of(str(module)) is None


def test_a_pipe_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pipe.py"
    os.mkfifo(path)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(path), raising=False)
    sources = ImportedSources()
    sources.begin()  # to open it would wait for a writer
    sources.end()
    assert sources.hashes_of(str(path)) is None
