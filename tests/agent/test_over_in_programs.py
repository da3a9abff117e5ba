"""What is said of a recompile is so in programs that were written before the rules: over or not, what is spared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynascope.explain.over import compiles_less, whether_over
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause, causes
from dynascope.facts.store import FILE_NAME

from tests.support.sentence_programs import WITHOUT_GRAPH_CACHES, Truth, programs, truth_in


def causes_in(program: Path, folder: Path) -> list[Cause]:
    """Record a program and return the causes of its recompiles."""
    command = [sys.executable, "-m", "dynascope", "run", str(program)]
    environment = os.environ | WITHOUT_GRAPH_CACHES | {"DYNASCOPE_FACTS": str(folder)}
    run = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=280)
    assert run.returncode == 0, run.stderr
    with Reader.open(folder / FILE_NAME) as reader:
        launch = str(reader.newest_launch())
        by_number = {each.id: each for each in reader.compiles(launch)}
        return causes(reader.facts("recompiles", launch), by_number, reader.why_compiled)


@pytest.mark.matrix
@pytest.mark.main_leg
@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_what_is_said_of_a_recompile_is_so(path: Path, tmp_path: Path) -> None:
    truth = truth_in(path.read_text())
    found = [each for each in causes_in(path, tmp_path) if each.caused and each.first.function == truth.function]
    told = [text for each in found if (text := whether_over(each))]
    if any(text.startswith("Not over: ") for text in told):
        assert not truth.over, told
    elif told and len(told) == len(found) and all(text.startswith("Over: ") for text in told):
        assert truth.over, told
    for each in found:
        check_spared(each, truth)


def check_spared(cause: Cause, truth: Truth) -> None:
    """Compare how many compiles a remedy is said to spare with its compiles on plain torch, where these are stated."""
    told, spared = compiles_less(cause), cause.known.spared
    if not told or spared is None:
        return
    name, saved = ("mark_dynamic", spared.by_marks) if "mark" in told else ("dynamic=True", spared.by_dynamic)
    stated = [each.compiles for each in truth.remedies if name in each.text and "&&" not in each.text]
    assert truth.remedies, told
    assert not stated or truth.compiles - saved in stated, told
