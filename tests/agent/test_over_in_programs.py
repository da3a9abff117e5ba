"""What is said of a recompile, that it is over or not, is so in programs that were written before the rules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynascope.explain.over import whether_over
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause, causes
from dynascope.facts.store import FILE_NAME

from tests.support.sentence_programs import programs, truth_in


def causes_in(program: Path, folder: Path) -> list[Cause]:
    """Record a program and return the causes of its recompiles."""
    command = [sys.executable, "-m", "dynascope", "run", str(program)]
    environment = os.environ | {"DYNASCOPE_FACTS": str(folder)}
    run = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=280)
    assert run.returncode == 0, run.stderr
    with Reader.open(folder / FILE_NAME) as reader:
        launch = str(reader.newest_launch())
        by_number = {each.id: each for each in reader.compiles(launch)}
        return causes(reader.facts("recompiles", launch), by_number, reader.why_compiled)


@pytest.mark.matrix
@pytest.mark.main_leg
@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_a_recompile_is_over_where_that_is_said(path: Path, tmp_path: Path) -> None:
    truth = truth_in(path.read_text())
    found = [each for each in causes_in(path, tmp_path) if each.caused and each.first.function == truth.function]
    told = [text for each in found if (text := whether_over(each))]
    if any(text.startswith("Not over: ") for text in told):
        assert not truth.over, told
    elif told and len(told) == len(found) and all(text.startswith("Over: ") for text in told):
        assert truth.over, told
