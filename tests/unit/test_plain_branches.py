"""Where ranks call collectives at other lines of plain Python, the condition and what it reads are found."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from dynascope.agent.ranks.frame_values import values_in
from dynascope.explain.plain_differences import plain_difference
from dynascope.facts.comparison.plain_branches import FrameValues, branches_apart, names_read
from dynascope.facts.user_stack import UserFrame

SOURCE = """\
def train(self, batches):
    for batch in batches:
        if self.bad > self.limit:
            break
        if batch.sum().item() > config["least"] and not self.quiet:
            call(
                1)
        elif len(batches) == 3:
            call(2)
        else:
            call(3)
    call(4)

def outer():
    for x, y in train(1): call(x)
    while ready: call(y)
    call(z)
    if ready:
        train(2)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "train.py").write_text(SOURCE)
    return str(tmp_path / "train.py")


def stack(path: str, *lines: tuple[str, int]) -> list[UserFrame]:
    return [UserFrame(path, line, function) for function, line in lines]


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ((6, 9), ("batch.sum().item() > config['least'] and (not self.quiet)", (True, False))),
        ((9, 11), ("len(batches) == 3", (True, False))),
        ((11, 7), ("batch.sum().item() > config['least'] and (not self.quiet)", (False, True))),
        ((12, 9), ("len(batches) == 3", (False, True))),
    ],
)
def test_the_condition_between_two_lines_is_the_first(path: str, lines: tuple[int, int], first: object) -> None:
    branches = branches_apart(stack(path, ("train", lines[0])), stack(path, ("train", lines[1])))
    assert (branches[0].text, branches[0].is_true) == first


def test_loops_and_what_leaves_them_are_looked_at_too(path: str) -> None:
    branches = branches_apart(stack(path, ("train", 11)), stack(path, ("train", 12)))
    assert [(each.text, each.is_loop) for each in branches] == [
        ("for batch in batches", True),
        ("self.bad > self.limit", False),
    ]


def test_the_outermost_function_in_which_lines_differ_is_looked_at(path: str) -> None:
    branches = branches_apart(stack(path, ("outer", 17), ("train", 6)), stack(path, ("outer", 19), ("train", 9)))
    assert [(each.function, each.text) for each in branches] == [("outer", "ready")]


def test_loops_are_told_as_they_are_written(path: str) -> None:
    for line, text in ((15, "for x, y in train(1)"), (16, "while ready")):
        branches = branches_apart(stack(path, ("outer", line)), stack(path, ("outer", 17)))
        assert [each.text for each in branches] == [text]


def test_equal_lines_and_other_functions_have_no_condition(path: str) -> None:
    assert branches_apart(stack(path, ("train", 6)), stack(path, ("train", 6))) == []
    assert branches_apart(stack(path, ("train", 6)), stack(path, ("outer", 15))) == []
    assert branches_apart(stack(path + "x", ("train", 6)), stack(path + "x", ("train", 9))) == []


def test_names_are_those_of_all_conditions_of_the_function(path: str) -> None:
    assert names_read(path, 7) == [
        "batches",
        "self.bad",
        "self.limit",
        "batch",
        "config['least']",
        "self.quiet",
        "len(batches)",
    ]


class Waits:
    @property
    def limit(self) -> int:
        raise AssertionError("no code of the program runs")


def test_values_are_read_without_running_code_of_the_program(tmp_path: Path) -> None:
    text = SOURCE.replace("call(4)", "raise_in(sys._getframe())")
    (tmp_path / "train.py").write_text(text)
    found: list[list[FrameValues]] = []

    def raise_in(frame: object) -> None:
        found.append(values_in(traceback.walk_stack(frame)))  # type: ignore[arg-type]

    space = {"sys": sys, "raise_in": raise_in, "call": id, "config": {"least": 100.0}}
    exec(compile(text, str(tmp_path / "train.py"), "exec"), space)
    waits = Waits()
    waits.bad, waits.quiet = 0, SimpleNamespace()  # type: ignore[attr-defined]
    with pytest.raises(AssertionError):
        space["train"](waits, [torch.ones(3)])  # type: ignore[operator]
    space["train"](SimpleNamespace(bad=0, limit=2, quiet=False), [torch.ones(1), torch.ones(3)])  # type: ignore[operator]
    own = next(each for each in found[0] if each.function == "train")
    assert own.values == {
        "batches": "of length 2",
        "self.bad": "0",
        "self.limit": "2",
        "batch": "of size [3]",
        "config['least']": "100",
        "self.quiet": "False",
        "len(batches)": "2",
    }


def values(path: str, **read: str) -> list[FrameValues]:
    return [FrameValues(path, "train", {name.replace("__", "."): text for name, text in read.items()})]


def test_a_condition_is_told_with_the_values_that_differ(path: str) -> None:
    stacks = stack(path, ("outer", 15), ("train", 9)), stack(path, ("outer", 15), ("train", 11))
    told = plain_difference(stacks, (values(path, batches="of length 3"), []), (0, 1))
    assert told is not None and told.difference == "`len(batches) == 3` is true in rank 0, and false in rank 1."
    assert [(each.function, each.line) for each in told.stack] == [("outer", 15), ("train", 8)]


def test_of_several_the_condition_is_told_whose_values_differ(path: str) -> None:
    stacks = stack(path, ("train", 11)), stack(path, ("train", 12))
    sides = values(path, self__bad="0", self__limit="2"), values(path, self__bad="3", self__limit="2")
    told = plain_difference(stacks, sides, (0, 1))
    assert told is not None and told.line == 3
    assert told.difference == "`self.bad > self.limit` decides it. self.bad is 0 in rank 0, and 3 in rank 1."
    told = plain_difference(stacks, ([], []), (0, 1))
    assert told is not None
    assert told.difference == "Rank 0 is in the loop `for batch in batches`, and rank 1 is not."
