"""Rounds of a loop in which ranks have called a collective."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.explain.plain_differences import plain_difference
from dynascope.facts.comparison.called import Called, of_parameter
from dynascope.facts.comparison.plain_branch import EarlierCall
from dynascope.facts.user_stack import UserFrame

_TRAIN = """\
def train(data):
    for x in data:
        loss = call(x)
        for p in parameters:
            reduce(p)
        if loss:
            reduce(loss)
    call()
def main():
    train([1])
    done()
"""
Lines = tuple[int, str]


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "train.py").write_text(_TRAIN)
    return str(tmp_path / "train.py")


def calls(path: str, *lines: Lines) -> list[Called]:
    """Return collectives at lines of `train`, or of `main` from line 10 on, each with its element."""
    stacks = [
        (UserFrame(path, 10, "main"), UserFrame(path, line, "train")) if line < 10 else (UserFrame(path, line, "main"),)
        for line, _ in lines
    ]
    return [
        Called(("gloo", at, 0), at + 1, "all_reduce", "f32[1]", stack, element=element)
        for at, (stack, (_, element)) in enumerate(zip(stacks, lines, strict=True))
    ]


def told(path: str, ours: list[Called], theirs: list[Called]) -> str:
    before = EarlierCall(calls=(ours, theirs))
    found = plain_difference((ours[-1].stack, theirs[-1].stack), ([], []), (0, 1), before)
    assert found is not None
    return found.difference.partition("not. ")[2]


def test_rounds_are_counted_by_a_collective_that_each_calls_once(path: str) -> None:
    both = [(3, ""), (3, "")]
    assert told(path, calls(path, *both, (3, "")), calls(path, *both, (11, ""))) == (
        "Rank 1 has gone through 2 elements of `data`, and rank 0 is at element 3."
    )
    assert told(path, calls(path, (11, "")), calls(path, (3, ""))) == (
        "Rank 0 has gone through no element of `data`, and rank 1 is at element 1."
    )


def test_rounds_are_counted_by_gradients_that_are_reduced(path: str) -> None:
    stacks = calls(path, (3, ""))[0].stack, calls(path, (11, ""))[0].stack
    before = EarlierCall(reduced=(calls(path, (3, ""), (3, "")), calls(path, (3, ""))))
    for sides, numbers, known in ((stacks, (0, 1), before), (stacks[::-1], (1, 0), before.turned())):
        found = plain_difference(sides, ([], []), numbers, known)
        assert found is not None and found.difference.endswith(
            "Rank 1 has gone through 1 element of `data`, and rank 0 is at element 2."
        )


def test_rounds_are_counted_by_a_parameter_of_an_inner_loop(path: str) -> None:
    both = [(5, of_parameter("p", "weight")), (5, of_parameter("p", "bias"))]
    ours, theirs = calls(path, *both, *both), calls(path, *both, (11, ""))
    assert told(path, ours, theirs) == "Rank 1 has gone through 1 element of `data`, and rank 0 is at element 2."


def test_rounds_are_not_counted_by_what_some_rounds_call(path: str) -> None:
    for line in (5, 7):  # several of a round, or none
        assert told(path, calls(path, (line, ""), (line, "")), calls(path, (line, ""), (11, ""))) == ""


def test_rounds_are_not_counted_by_what_a_function_may_leave_out(tmp_path: Path) -> None:
    text = "def train(data):\n    for x in data:\n        step(x)\n    done()\n"
    text += "def step(x):\n    if x.valid:\n        call(x)\n"
    (tmp_path / "train.py").write_text(text)
    path = str(tmp_path / "train.py")
    stack = (UserFrame(path, 3, "train"), UserFrame(path, 7, "step"))
    ours = [Called(("gloo", at, 0), at + 1, "all_reduce", "f32[1]", stack) for at in range(2)]
    theirs = [ours[0], Called(("gloo", 1, 0), 2, "barrier", "", (UserFrame(path, 4, "train"),))]
    found = plain_difference((ours[-1].stack, theirs[-1].stack), ([], []), (0, 1), EarlierCall(calls=(ours, theirs)))
    assert found is not None and "gone through" not in found.difference


def test_a_rank_that_has_had_as_many_rounds_has_left_the_loop_for_another_reason(path: str) -> None:
    ours, theirs = calls(path, (3, ""), (3, "")), calls(path, (3, ""), (3, ""), (11, ""))
    assert told(path, ours, theirs) == ""
