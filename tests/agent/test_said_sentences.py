"""What `said.json` says is told of a program with graph breaks is told of it, once it is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.support.breaking_programs import programs
from tests.support.sentences import is_said, recorded, said_in, told_of


@pytest.mark.matrix
@pytest.mark.main_leg
@pytest.mark.parametrize("path", [each for each in programs() if said_in(each)], ids=lambda path: path.stem)
def test_a_program_is_told_these_sentences(path: Path, tmp_path: Path) -> None:
    told = told_of(recorded(path, tmp_path))
    assert [sentence for sentence in said_in(path) if not is_said(sentence, told)] == []
