"""Ranks that call a collective in other rounds of a loop: which round, and what has skipped it."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import pytest
import torch
from dynascope.agent.internals.parameter_names import ParameterNames
from dynascope.agent.ranks.loop_rounds import LoopRounds
from dynascope.explain.divergences import other_reductions
from dynascope.explain.plain_differences import plain_difference
from dynascope.facts.comparison.called import Called, CalledInGroup, Round, first_difference, first_reduced_apart
from dynascope.facts.comparison.plain_branch import FrameValues
from dynascope.facts.comparison.plain_reads import assigned_in, counted_at, names_read
from dynascope.facts.user_stack import UserFrame

SOURCE = """\
def lookup(table, length):
    if length not in table.known:
        call(length)

def clip(limit):
    if limit is None:
        return
    call(limit)

def train(table, every, limits):
    for length in (16, 24, 16):
        lookup(table, length)
    for step in range(4):
        if step % every == 0:
            call(step)
        is_last = (step + 1) % every == 0
        clip(limits[step])
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "train.py").write_text(SOURCE)
    return str(tmp_path / "train.py")


def round_of(function: str, name: str, number: int) -> Round:
    return Round(function, name, number, f"{name} is {number}")


def calls(*rounds: int, last: str = "all_reduce", line: int = 15) -> CalledInGroup:
    stack = (UserFrame("train.py", line, "train"),)
    made = [
        Called(("gloo", number, 0), number, "all_reduce", "f32[1]", stack, rounds=(round_of("train", "step", each),))
        for number, each in enumerate(rounds)
    ]
    end = Called(("gloo", len(made), 0), len(made), last, "f32[1]", (UserFrame("train.py", 20, "main"),))
    return CalledInGroup(True, [*made, end])


def test_ranks_part_where_one_calls_in_an_earlier_round() -> None:
    found = first_difference(calls(0, 1, 2), calls(0, 2, last="barrier"))
    assert found is not None and (found[0].rounds[0].number, found[1].rounds[0].number) == (1, 2)
    at_once = first_difference(calls(0, 1, 2), calls(1, 2, last="barrier"))
    assert at_once is not None and at_once[0].rounds[0].number == 0


def test_loops_of_functions_of_one_name_are_compared_one_by_one() -> None:
    outer, inner = round_of("forward", "i", 0), round_of("forward", "i", 2)
    call = Called(("gloo", 0, 0), 0, "all_reduce", "f32[1]", (), rounds=(outer, inner))
    assert call.other_round(call) is None
    later = Called(("gloo", 0, 0), 0, "all_reduce", "f32[1]", (), rounds=(outer, round_of("forward", "i", 3)))
    assert call.other_round(later) == (inner, later.rounds[1])


def test_rounds_that_differ_by_right_do_not_part_ranks() -> None:
    found = first_difference(calls(0, 2, 4), calls(1, 3, last="barrier"))
    assert found is not None and not found[1].rounds
    assert first_difference(calls(0, 1), calls(1, 2)) is None  # what they call is alike


def test_forwards_whose_gradients_are_reduced_in_other_rounds_are_found() -> None:
    ours, theirs = (CalledInGroup(True, [], reduced=calls(*rounds).calls[:-1]) for rounds in ((1, 3), (3,)))
    found = first_reduced_apart(ours, theirs)
    assert found is not None and [each.rounds[0].number for each in found] == [1, 3]
    assert first_reduced_apart(ours, ours) is None
    retried = [*calls(0, line=14).calls[:-1], calls(1, 2, line=17).calls[1]]
    at_other_line = CalledInGroup(True, [], reduced=retried)
    usual = CalledInGroup(True, [], reduced=calls(0, 1, line=14).calls[:-1])
    pair = first_reduced_apart(at_other_line, usual)
    assert pair is not None and [each.stack[-1].line for each in pair] == [17, 14]
    rounds = round_of("train", "step", 3), round_of("train", "step", 1)
    assert other_reductions(rounds, (1, 0)) == (
        "DistributedDataParallel reduces gradients where step is 1 in rank 0, and where step is 3 in rank 1."
    )


def told(
    path: str, sides: tuple[list[tuple[str, int]], list[tuple[str, int]]], values: object, rounds: tuple[Round, Round]
) -> tuple[int, str] | None:
    stacks = [[UserFrame(path, line, function) for function, line in side] for side in sides]
    frames = [[FrameValues(path, *each) for each in side] for side in values]  # type: ignore[attr-defined]
    found = plain_difference((stacks[0], stacks[1]), (frames[0], frames[1]), (0, 1), rounds=rounds)
    return None if found is None else (found.line, found.difference)


def test_the_condition_that_skips_a_round_is_told_with_what_it_reads(path: str) -> None:
    lines = [("train", 12), ("lookup", 3)]
    values = (
        [("lookup", {"length": "16", "table.known": "of length 0"}, [{"table": "table"}]), ("train", {})],
        [("lookup", {"length": "24"}, [{"table": "table"}]), ("train", {"table.known": "of length 1"})],
    )
    rounds = round_of("train", "length", 0), round_of("train", "length", 1)
    assert told(path, (lines, lines), values, rounds) == (
        2,
        "`length not in table.known` is true in rank 0, and false in rank 1. "
        "table.known is of length 0 in rank 0, and of length 1 in rank 1.",
    )


def test_what_the_loop_does_not_assign_is_the_same_in_a_later_round(path: str) -> None:
    values = [("train", {"step": "1", "every": "1"})], [("train", {"step": "2", "every": "2"})]
    rounds = round_of("train", "step", 1), round_of("train", "step", 2)
    assert told(path, ([("train", 15)], [("train", 15)]), values, rounds) == (
        14,
        "`step % every == 0` is true in rank 0, and false in rank 1. every is 1 in rank 0, and 2 in rank 1.",
    )


def test_a_value_follows_from_the_condition_of_a_rank_that_has_left(path: str) -> None:
    values = [("clip", {"limit": "1.0"}), ("train", {"step": "0"})], [("train", {"step": "1"})]
    rounds = round_of("train", "step", 0), round_of("train", "step", 1)
    assert told(path, ([("train", 17), ("clip", 8)], [("train", 15)]), values, rounds) == (
        6,
        "`limit is None` is true in rank 1, and false in rank 0. limit is 1.0 in rank 0, and None in rank 1.",
    )


HANDLING = """\
def parse(record):
    if len(record) != 8:
        raise ValueError(record)
    return record

def train(records):
    for step in range(4):
        try:
            x = parse(records[step])
        except ValueError:
            continue
        call(x)
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (HANDLING, (2, "`len(record) != 8` is true in rank 1, and false in rank 0.")),
        (
            f"{HANDLING}\ndef other():\n    raise ValueError\n",
            (10, "`except ValueError` has run in one of them alone."),
        ),
    ],
)
def test_an_error_that_skips_a_round_is_told_where_it_is_raised(
    tmp_path: Path, source: str, expected: tuple[int, str]
) -> None:
    (tmp_path / "train.py").write_text(source)
    stacks = [("train", 12)], [("train", 12)]
    rounds = round_of("train", "step", 2), round_of("train", "step", 3)
    assert told(str(tmp_path / "train.py"), stacks, ([], []), rounds) == expected


@pytest.mark.parametrize(
    ("raising", "expected"),
    [
        ("if x.size > 4: raise lib.TooLarge", (2, "`x.size > 4` is true in rank 0, and false in rank 1.")),
        ("check(x)", (7, "`except lib.TooLarge` has run in rank 0, and not in rank 1.")),
    ],
)
def test_a_rank_that_calls_in_a_handler_parts_at_what_raises(
    tmp_path: Path, raising: str, expected: tuple[int, str]
) -> None:
    source = f"""\
def run(x):
    {raising}
    call(x)
def step(x):
    try:
        run(x)
    except lib.TooLarge:
        run(x[:4])
"""
    (tmp_path / "train.py").write_text(source)
    path = str(tmp_path / "train.py")
    stacks = [
        [UserFrame(path, 9, "<module>"), UserFrame(path, line, "step"), UserFrame(path, 3, "run")] for line in (8, 6)
    ]
    found = plain_difference((stacks[0], stacks[1]), ([], []), (0, 1), is_proven=True)
    assert found is not None and (found.line, found.difference) == expected


def test_what_wraps_modules_is_found_in_functions_that_have_returned(tmp_path: Path) -> None:
    source = (
        "def shard(model, least):\n    for block in model:\n        if block.size >= least:\n"
        "            fully_shard(block)\n"
        "shard(model, policy['least'])\nmodel(x)\n"
    )
    (tmp_path / "train.py").write_text(source)
    path = str(tmp_path / "train.py")
    assert "policy['least']" in names_read(path, 6)
    stack = [UserFrame(path, 6, "<module>")]
    values = [[FrameValues(path, "<module>", {"policy['least']": each})] for each in ("500", "5000")]
    takes = "a.weight (f32[8])", "a.weight and 2 more (f32[24])"
    found = plain_difference((stack, stack), (values[0], values[1]), (0, 1), takes=takes)
    assert found is not None and (found.line, found.stack[-1].function, found.difference) == (
        3,
        "shard",
        "`block.size >= least` reads another value in each. policy['least'] is 500 in rank 0, and 5000 in rank 1.",
    )


def test_the_rounds_of_numbers_constants_and_parameters_are_read(path: str) -> None:
    assert [(each.name, each.elements) for each in counted_at(path, 12)] == [("length", (16, 24, 16))]
    (counted,) = counted_at(path, 17)
    assert counted.name == "step" and assigned_in(counted.loop) == {"step", "is_last"}
    names = ParameterNames()
    net = torch.nn.Linear(2, 2)
    assert names.name_of(net.bias, [net]) == "bias"
    found = []
    for place in "ab", "cd":
        for number, letter in enumerate(place):
            for each in net.parameters():
                here = traceback.walk_stack(sys._getframe())
                frame, line = next(here)
                user = UserFrame(__file__, line, "test")
                found.append([one.text for one in LoopRounds(names).of([(frame, user)])])
                assert letter and number < 2 and each.requires_grad
    assert found[0] == ["place is 'ab'", "number is 0", "each is the parameter weight"]
    assert found[3] == ["place is 'ab'", "number is 1", "each is the parameter bias"]


def test_the_round_of_a_module_is_its_place_in_the_list() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(2))
            self.shared = [self.blocks[0], self.blocks[0]]

    net = Net()
    found = []

    def note(block: torch.nn.Module) -> None:
        assert isinstance(block, torch.nn.Linear)
        here = traceback.walk_stack(sys._getframe(1))
        frame, line = next(here)
        rounds = LoopRounds(ParameterNames()).of([(frame, UserFrame(__file__, line, "test"))])
        found.append([(one.number, one.text) for one in rounds])

    for block in net.blocks:
        note(block)
    for block in net.shared:  # one module is in it twice
        note(block)
    assert found == [[(0, "block is net.blocks[0]")], [(1, "block is net.blocks[1]")], [], []]
