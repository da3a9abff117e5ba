"""What is said of a recompile is so in programs that were written before the rules: over or not, what is spared."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynascope.explain.over import compiles_less, whether_over
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause, causes

from tests.support.sentence_programs import Truth, programs, truth_in
from tests.support.sentences import is_said, recorded, said_in, told_of


def causes_in(store: Path) -> list[Cause]:
    """Return the causes of recompiles of the newest launch."""
    with Reader.open(store) as reader:
        launch = str(reader.newest_launch())
        by_number = {each.id: each for each in reader.compiles(launch)}
        return causes(reader.facts("recompiles", launch), by_number, reader.why_compiled)


@pytest.mark.matrix
@pytest.mark.main_leg
@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_what_is_said_of_a_recompile_is_so(path: Path, tmp_path: Path) -> None:
    truth = truth_in(path.read_text())
    store = recorded(path, tmp_path)
    found = [each for each in causes_in(store) if each.caused and each.first.function == truth.function]
    told = [text for each in found if (text := whether_over(each))]
    if any(text.startswith("It is not over: ") for text in told):
        assert not truth.over, told
    elif (
        told
        and len(told) == len(found)
        and all(text.startswith(("It is over:", "It is over for slices:")) for text in told)
    ):
        assert truth.over, told
    for each in found:
        check_spared(each, truth)
    told_of_it = told_of(store) if said_in(path) else []
    assert [sentence for sentence in said_in(path) if not is_said(sentence, told_of_it)] == []


def check_spared(cause: Cause, truth: Truth) -> None:
    """Compare how many compiles a remedy is said to spare with its compiles on plain torch, where these are stated."""
    told, spared = compiles_less(cause), cause.known.spared
    if not told or spared is None:
        return
    name, saved = ("mark_dynamic", spared.by_marks) if "mark" in told else ("dynamic=True", spared.by_dynamic)
    name = name if name in told else ""  # `.contiguous()` alone
    saved, is_relaid = (spared.by_layout, True) if "contiguous" in told else (saved, False)
    stated = [
        each.compiles
        for each in truth.remedies
        if name in each.text and (is_relaid or "&&" not in each.text) and ("contiguous" in each.text) == is_relaid
    ]
    assert truth.remedies, told
    assert stated or not is_relaid, told
    assert not stated or truth.compiles - saved in stated, told
