"""Facts are found after their folder has been moved, and where a container has recorded them under another path."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, FOLDER_NAME

from tests.support.facts import sample


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    sample.write_sample(before)
    shutil.move(before, after)
    return after


def test_files_and_facts_are_those_of_the_new_folder(moved: Path) -> None:
    with Reader.open(moved / FOLDER_NAME / FILE_NAME) as reader:
        path = str(moved / "layers.py")
        assert path in reader.files()
        view = reader.view(path)
        assert view is not None and view.facts("graph_breaks")
        assert {each.path for each in view.facts("graph_breaks")} == {path}
        assert all(each.path.startswith(str(moved)) for each in reader.compiles() if each.path)


def test_a_folder_that_is_still_there_keeps_its_facts(moved: Path) -> None:
    shutil.copytree(moved, moved.parent / "before")
    with Reader.open(moved / FOLDER_NAME / FILE_NAME) as reader:
        assert reader.view(str(moved / "layers.py")) is None
        assert reader.view(str(moved.parent / "before" / "layers.py")) is not None


def test_a_file_that_is_nowhere_keeps_its_recorded_path(moved: Path) -> None:
    (moved / "layers.py").unlink()
    with Reader.open(moved / FOLDER_NAME / FILE_NAME) as reader:
        assert str(moved.parent / "before" / "layers.py") in reader.files()
