"""Ranks that wait for each other in collectives of two process groups are told, and no others."""

from __future__ import annotations

from dynascope.agent.ranks.two_groups import told_of_two_groups, waiting_for
from dynascope.facts.comparison.called import Called, CalledInGroup
from dynascope.facts.comparison.plain_branch import FrameValues, ValuesAt
from dynascope.facts.user_stack import UserFrame

GROUPS = {"0": (0, 1, 2, 3), "1": (2, 3)}
PATH = "/work/train.py"


def group(count: int, waits: bool = False) -> CalledInGroup:
    stack = (UserFrame(PATH, 7, "average"),)
    begun = [Called(("gloo", number, 0), number, "all_reduce", "f32[8]", stack) for number in range(1, count + 1)]
    return CalledInGroup(True, [], begun, waits)


def test_ranks_that_wait_in_two_groups_are_told() -> None:
    own = {"0": group(2), "1": group(1, waits=True)}
    left = {0: {"0": group(3, True)}, 1: {"0": group(3, True)}, 2: {"0": group(3, True), "1": group(0)}}
    (found,) = waiting_for(own, left, GROUPS)
    assert (found.group, found.rank, found.other_group) == ("1", 2, "0")
    values = ([ValuesAt("", None, [FrameValues(PATH, "average", {})])],) * 2
    fact = told_of_two_groups(found, 3, left, GROUPS, values)
    assert (fact.ranks, fact.others, fact.line) == ("3", "0-2", 7)
    assert fact.collectives == (
        "Rank 3 waits in all_reduce of f32[8] (train.py:7) in the process group of ranks 2, 3, and "
        "ranks 0-2 wait in all_reduce of f32[8] (train.py:7) in the process group of ranks 0-3."
    )


def test_a_rank_that_others_have_joined_or_that_computes_is_not_waited_for_so() -> None:
    own = {"0": group(2), "1": group(1, waits=True)}
    for left in (
        {2: {"0": group(3), "1": group(0)}},  # it computes
        {2: {"0": group(3, True), "1": group(1)}},  # it has begun ours
        {2: {"0": group(2, True), "1": group(0)}},  # we have begun its
        {2: {"0": group(3, True), "1": group(0), "2": group(1, True)}},  # it may wait in another one
        {0: {"0": group(3, True)}},  # it is in no group of ours
    ):
        assert [*waiting_for(own, left, GROUPS)] == []
    assert [*waiting_for({"0": group(2), "1": group(1)}, {2: {"0": group(3, True)}}, GROUPS)] == []
