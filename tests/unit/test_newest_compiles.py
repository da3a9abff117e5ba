"""Newest compiles of ranks explain what these call at run time, and why they ended."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dynascope.agent.ranks.ended_job import parted
from dynascope.explain import rank_differences
from dynascope.facts import model
from dynascope.facts.comparison.called import Called, kinds_of
from dynascope.facts.comparison.newest_calls import (
    NewestCall,
    PairOfCalls,
    called_in_graph,
    lines_in_graph,
    unmatched_pairs,
    whole_calls,
)
from dynascope.facts.comparison.ranks import Collective, PartOfCall
from dynascope.facts.ended_ranks import EndedRank, RankFile, RankProcess
from dynascope.facts.user_stack import UserFrame
from msgspec import structs

from tests.unit.test_rank_sentences import PATH, REDUCE, Row, part


def call(*parts: PartOfCall, gradients: dict[str, list[str]] | None = None) -> NewestCall:
    return NewestCall(PATH, 10, "step", [*parts], gradients or {})


def resumed(*lines: int, began: float = 1.0) -> PartOfCall:
    """Return what follows a graph break at line 11."""
    made = part([*lines], [], [])
    made.compile.resumes_at, made.compile.began = 11, began
    return made


def broken() -> PartOfCall:
    made = part([10, 11], [], [])
    made.breaks.append(model.GraphBreak(path=PATH, line=11, function="step", registry_id=None, type="", reason=""))
    made.collectives.clear()
    return made


def test_what_follows_a_break_alone_is_of_an_earlier_call() -> None:
    before, first, again = broken(), resumed(12, 14), resumed(12, 13, began=2.0)
    other = NewestCall(PATH, 30, "evaluate", [part([30, 31], [], [])])
    assert whole_calls([call(before, first), other, call(again)]) == [call(before, again), other]


def test_a_collective_after_a_break_is_told_at_its_own_line() -> None:
    calls = [call(broken(), resumed(12, 13))]
    stack = (UserFrame("/work/main.py", 5, "main"), UserFrame(PATH, 11, "step"))
    assert lines_in_graph(stack, "all_reduce", calls) == (stack[0], *REDUCE.stack)
    assert lines_in_graph(stack, "broadcast", calls) == stack
    assert lines_in_graph(stack[:1], "all_reduce", calls) == stack[:1]


@pytest.mark.parametrize(
    ("operation", "kinds"),
    [
        ("all_gather_into_tensor(2)", {"all_gather"}),
        ("reduce_scatter_tensor(sum)", {"reduce_scatter", "all_reduce"}),
        ("barrier", {"barrier"}),
    ],
)
def test_operations_of_graphs_are_known_at_run_time(operation: str, kinds: set[str]) -> None:
    assert kinds_of([operation]) == kinds
    assert kinds <= kinds_of(["full_tensor(Shard(dim=0) -> Replicate())"])


def test_parameters_that_one_rank_uses_are_told_with_the_branch() -> None:
    ours, theirs = (part([10, 11, 12, after], [], []) for after in (14, 13))
    pair = PairOfCalls([ours], [theirs], True, ({"0": ["a", "b"]}, {"0": ["a"]}))
    found = rank_differences.compiled_apart(pair, (1, 0), ("1", "0, 2"), {"0": (1, 0)})
    assert found is not None and (found.line, found.ranks, found.others) == (12, "1", "0, 2")
    assert found.difference == (
        "When step was compiled last: Rank 1 goes on at line 14 next, and rank 0 goes on at line 13."
    )
    assert found.collectives.startswith("Rank 1 uses b, which ranks 0, 2 do not:")
    alike = PairOfCalls([ours], [theirs], True, ({"0": ["a"]}, {"0": ["a"]}))
    assert rank_differences.compiled_apart(alike, (1, 0), ("1", "0"), {"0": (1, 0)}) is None


def test_an_earlier_compile_is_compared_whose_collectives_the_other_rank_never_calls() -> None:
    ours, longer, theirs = part([10, 11], []), part([10, 11, 12], []), part([10, 11], [])
    longer.collectives.append(REDUCE)
    frames = [UserFrame(PATH, 12, "step")]
    (pair,) = unmatched_pairs([call(ours), call(longer)], [call(theirs)], "0", frames)
    assert (pair.ours, pair.theirs) == ([longer], [theirs])
    found = rank_differences.newest_difference(pair, (1, 0), (REDUCE, Collective("barrier", "0", "")))
    assert found is not None and found.difference == (
        "Compiles of step call other collectives: Rank 1 goes on at line 12 next, and rank 0 returns."
    )
    (turned,) = unmatched_pairs([call(theirs)], [call(ours), call(longer)], "0", frames)
    assert (turned.ours, turned.theirs) == (pair.theirs, pair.ours)
    assert [*unmatched_pairs([call(ours)], [call(theirs)], "0", frames)] == []
    assert [*unmatched_pairs([call(longer)], [call(theirs)], "0", [UserFrame(PATH, 5, "other")])] == []


def test_a_collective_of_a_graph_is_found_for_a_rank_that_runs_the_function_uncompiled() -> None:
    stack = UserFrame("/work/main.py", 5, "main"), UserFrame(PATH, 11, "step")
    uncompiled = Called(("gloo", 3, 0), 1, "all_gather", "f32[2]", stack)
    found = called_in_graph(uncompiled, "0", [call(part([10, 11], []))])
    assert found is not None and (found.operation, found.stack) == ("all_reduce(sum)", (stack[0], *REDUCE.stack))
    assert called_in_graph(uncompiled, "1", [call(part([10, 11], []))]) is None
    alike = Called(("gloo", 3, 0), 1, "all_reduce(sum)", "f32[4]", (stack[0], *REDUCE.stack))
    assert called_in_graph(alike, "0", [call(part([10, 11], []))]) is None


def test_a_frozen_parameter_is_told_where_compiles_are_alike() -> None:
    pair = PairOfCalls([part([10, 11], [])], [part([10, 11], [])], True, ({"0": ["a", "b"]}, {"0": ["a"]}))
    found = rank_differences.newest_difference(pair, (0, 1), (REDUCE, None))
    assert (
        found is not None
        and found.line == 10
        and found.difference.startswith(
            "When step was compiled last: b.requires_grad is True in rank 0, and False in rank 1. Rank 0 uses b, which"
        )
    )


def test_one_that_compiles_again_alone_is_compared_with_the_compile_before() -> None:
    now, before = part([10, 11, 12], [], reason="___as_tensor(L['k']).item() == 2"), part([10, 11, 13], [])
    other = structs.replace(REDUCE, takes="f32[6]", stack=(UserFrame(PATH, 14, "step"),))
    fact = rank_differences.recompiled_alone([now], [before], (REDUCE, other), ("1", "0, 2"))
    assert fact.line == 11 and fact.difference.endswith(
        "no other rank has done so meanwhile. Rank 1 goes on at line 12 next, and the earlier compile goes on at line "
        "13."
    )
    assert rank_differences.recompiled_alone([now], [], (REDUCE, other), ("1", "0, 2")).line == 13


def test_an_all_to_all_is_told_in_which_one_rank_sends_more_than_the_other_takes() -> None:
    rows: list[Row] = [(1, "value", "capacity", "20")]
    ours, theirs = part([10, 11, 12], rows), part([10, 11, 12], [(*rows[0][:3], "16")])
    for each, size in ((ours, 20), (theirs, 16)):
        made = Collective(
            "all_to_all_single", "0", "f32[?, 4]", splits=((size, size), (size, size)), stack=REDUCE.stack
        )
        each.collectives[:] = [made]
    pair = PairOfCalls([ours], [theirs], False)
    fact = rank_differences.compiled_apart(pair, (0, 1), ("0", "1"), {"0": (0, 1)})
    assert fact is not None and fact.line == 11
    assert fact.difference == "When step was compiled last: capacity is 20 in rank 0, and 16 in rank 1."
    assert "all_to_all_single(input_split_sizes=[20, 20])" in fact.collectives
    assert "all_to_all_single(output_split_sizes=[16, 16])" in fact.collectives
    assert rank_differences.compiled_apart(pair, (0, 1), ("0", "1"), {"1": (0, 1)}) is None


def ended_ranks(folder: Path) -> Iterator[tuple[int, RankFile]]:
    """Yield four ranks whose process has ended, each with the compiles of one call."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    for rank in range(4):
        file = RankFile(folder, RankProcess(rank, process.pid, {"0": (0, 1, 2, 3)}))
        file.compiled(call(broken()), begins=True)
        file.compiled(call(resumed(12, 14)), begins=False)
        yield rank, file


def test_compiles_of_ranks_that_were_ended_are_compared(tmp_path: Path) -> None:
    for rank, file in ended_ranks(tmp_path):
        if rank == 2:
            last = resumed(12, 13, began=2.0)
            last.collectives.append(last.collectives[0])
            file.compiled(call(last), begins=True)
    assert parted(tmp_path) is None
    found = parted(tmp_path, has_aborted=True)
    assert found is not None and found[0] == 2
    assert (found[1].ranks, found[1].others) == ("2", "0, 1, 3")
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    RankFile(tmp_path, RankProcess(1, process.pid)).end(EndedRank(RankProcess(1, process.pid), error="other"))
    assert parted(tmp_path, has_aborted=True) is None


def test_a_rank_that_was_ended_before_it_compiled_again_does_not_part(tmp_path: Path) -> None:
    for rank, file in ended_ranks(tmp_path):
        if rank != 1:
            last = resumed(12, 13 if rank == 3 else 14, began=5.0 - rank)
            last.collectives += last.collectives[:1] * (1 if rank == 3 else 2)
            file.compiled(call(last), begins=True)
    found = parted(tmp_path, has_aborted=True)
    assert found is not None and found[1].ranks == "3"
