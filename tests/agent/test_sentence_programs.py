"""What programs that recompile say of themselves is what plain torch makes of them; nothing of Dynascope runs here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import edited_programs, sentence_programs
from tests.support.edited_programs import edited, edits_in, same_output
from tests.support.plain_torch import Kept
from tests.support.sentence_programs import FOLDER, Run, Truth, measured, programs, truth_in

MEASURED_BY = [Path(edited_programs.__file__), Path(sentence_programs.__file__)]
SOURCES = {path: path.read_text() for path in programs()}


@pytest.mark.matrix
@pytest.mark.main_leg
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_comments_are_true_on_plain_torch(path: Path, cache: pytest.Cache) -> None:
    truth = truth_in(SOURCES[path])
    kept = Kept(cache, Run, [path, *MEASURED_BY])
    plain, *with_remedy = found = kept.get(lambda: measured(path))
    assert not plain.failed
    assert said(truth) == {
        "compiles": plain.compiles.get(truth.function, 0),
        "over": truth.function not in plain.next_compiles,
        "limit": truth.function in plain.at_limit,
    }, plain
    assert {each.text: each.compiles for each in truth.remedies} == {
        remedy.text: changed.failed or changed.compiles.get(truth.function, 0)
        for remedy, changed in zip(truth.remedies, with_remedy, strict=True)
    }
    for remedy, changed in zip(truth.remedies, with_remedy, strict=True):
        assert same_output(plain.printed, changed.printed), f"{remedy.text} changes what is printed"
        if remedy.compiles < truth.compiles:
            fewer = sum(changed.compiles.values()) < sum(plain.compiles.values())
            assert fewer, f"{remedy.text} leaves other functions to be compiled as often"
    counts = [remedy.compiles for remedy in truth.remedies]
    assert counts == sorted(counts), "the best remedy comes first"
    assert not counts or counts[0] < truth.compiles, "say `best: none` where no remedy helps"
    kept.keep(found)


@pytest.mark.matrix
@pytest.mark.main_leg
@pytest.mark.parametrize("name", ["queries_and_keys_drift_apart", "threads_per_request", "vocabulary_grows"])
def test_runs_in_one_process_leave_nothing_to_the_next(name: str) -> None:
    """These change settings of torch and of its symbols, the number of threads, and what shapes are guarded."""
    path = FOLDER / f"{name}.py"
    assert measured(path) == measured(path, separately=True)


def said(truth: Truth) -> dict[str, object]:
    return {"compiles": truth.compiles, "over": truth.over, "limit": truth.limit_reached}


def test_remedies_are_edits_of_lines() -> None:
    source = "def f(x):\n    return x\n\n\nf(1)\n"
    for text, expected, origins in (
        ("2 -> return 2 * x", "def f(x):\n    return 2 * x\n\n\nf(1)\n", [1, 2, 3, 4, 5]),
        ("5 -> f(y) && +5 -> y = 1", "def f(x):\n    return x\n\n\ny = 1\nf(y)\n", [1, 2, 3, 4, 5, 5]),
        ("+2 -> x += 1", "def f(x):\n    x += 1\n    return x\n\n\nf(1)\n", [1, 2, 2, 3, 4, 5]),
        ("-3 && -4 && other.py:5 -> g(1)", "def f(x):\n    return x\nf(1)\n", [1, 2, 5]),
    ):
        assert edited(source, edits_in(text)) == (expected, origins)


def test_outputs_are_the_same_within_a_tolerance() -> None:
    assert same_output("loss 1.000001\n[2, nan]", "loss 1.000002\n[2, nan]")
    assert not same_output("loss 1.0", "loss 1.1")
    assert not same_output("loss 1.0", "cost 1.0")
    assert same_output("start\nloss 1.0", "loss 1.0", silent=True) and not same_output("start\nloss 1.0", "loss 1.0")
