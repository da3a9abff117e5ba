"""What is said of ranks that part: who, where, which value, and what comes of it."""

from __future__ import annotations

import pytest
from dynascope.explain import divergences
from dynascope.facts import model
from dynascope.facts.comparison.ranks import Collective, PartOfCall, decisions, part_of
from dynascope.facts.comparison.trail import DECISION_KINDS, DecisionKind, Trail
from dynascope.facts.user_stack import UserFrame
from dynascope.rank_names import ranks_text

PATH = "/work/model.py"
REDUCE = Collective("all_reduce(sum)", "0", "f32[4]", ("L['x']",), (UserFrame(PATH, 13, "step"),))
Row = tuple[int, DecisionKind, str, str]


def part(lines: list[int], rows: list[Row], guards: list[model.Guard] = [], **about: object) -> PartOfCall:  # noqa: B006
    """A compile of `step` that traces these lines; a row is the number of a line, and a decision there."""
    texts = [PATH, "step"]
    cells: list[int] = []
    for row, kind, subject, text in rows:
        texts += [subject, text]
        cells += [row, row, DECISION_KINDS.index(kind), len(texts) - 2, len(texts) - 1]
    trail = Trail(texts, [(0, 1, -1)], [number for line in lines for number in (0, line)], cells)
    appeared = [number for each in guards for number in (lines.index(each.line), lines.index(each.line), 1)]
    trail.guards = appeared
    made = model.Compile(
        compile_id="0/0", function="step", path=PATH, line=10, status="compiled", began=0.0, seconds=1.0, graphs=1
    )
    for name, value in about.items():
        setattr(made, name, value)
    facts = model.CompileFacts(compile=made, guards=guards)
    return part_of(facts, trail, [REDUCE])


def told(ours: PartOfCall, theirs: PartOfCall) -> model.RankDifference:
    return divergences.rank_difference([ours], [theirs], (1, 0), ("1", "0, 2-7"))


def divergence(difference: model.RankDifference, effect: str, collectives: str) -> model.Divergence:
    return model.Divergence(
        path=difference.path,
        line=difference.line,
        stack=difference.stack,
        ranks=difference.ranks,
        others=difference.others,
        difference=difference.difference,
        effect=effect,  # type: ignore[arg-type]
        collectives=collectives,
    )


@pytest.mark.parametrize(
    ("ranks", "text"), [([1], "1"), ([0, 1], "0, 1"), ([4, 2, 3, 7], "2-4, 7"), ([0, 2, 3, 4, 5, 6, 7], "0, 2-7")]
)
def test_ranks_are_told_with_ranges(ranks: list[int], text: str) -> None:
    assert ranks_text(ranks) == text


def test_a_branch_is_told_with_the_value_of_its_guard() -> None:
    def of(value: str, after: int) -> PartOfCall:
        guard = model.Guard(
            path=PATH, line=12, expression="L['sync']", kind="CONSTANT_MATCH", code=[f"L['sync'] == {value}"]
        )
        return part([10, 11, 12, after], [], [guard])

    found = told(of("False", 14), of("True", 13))
    assert (found.line, found.ranks, found.others) == (12, "1", "0, 2-7")
    assert found.difference == (
        "Rank 1 goes on at line 14 next, and rank 0 goes on at line 13. sync is False in rank 1, and True in rank 0."
    )
    called = divergences.other_collective(None, REDUCE, ("1", "0, 2-7"))
    assert called == "Ranks 0, 2-7 call all_reduce(sum) of f32[4] (model.py:13), which rank 1 does not call."
    fact = divergence(found, "hangs", called)
    assert divergences.announced(fact, "step") == (
        f"rank 1 parts from ranks 0, 2-7 at model.py:12 in step: {found.difference} {called} "
        "Then one waits for the other for ever, or the results are wrong."
    )
    problem = divergences.divergence_problem(fact)
    assert problem.title == "rank 1 parts from ranks 0, 2-7"
    assert problem.remedies == [
        "All ranks of a group have to call the same collectives, in the same order, on tensors of the same size: "
        "let no condition or order before them depend on the rank."
    ]


def test_a_value_is_told_at_the_first_line_that_runs() -> None:
    ours, theirs = (part([10, 11], [(0, "value", "x", each)]) for each in ("bf16[2]", "f32[2]"))
    found = told(ours, theirs)
    assert (found.line, found.difference) == (11, "x is bf16[2] in rank 1, and f32[2] in rank 0.")
    other = Collective("all_reduce(sum)", "0", "bf16[2]")
    assert divergences.other_collective(other, REDUCE, ("1", "0")) == (
        "Rank 1 calls all_reduce(sum) of bf16[2], and rank 0 all_reduce(sum) of f32[4] (model.py:13)."
    )


def test_a_guard_of_both_is_told_before_a_value_that_one_reads() -> None:
    def of(depth: str, after: int, *rows: Row) -> PartOfCall:
        code = [f"L['self'].depth == {depth}"]
        guard = model.Guard(path=PATH, line=12, expression="L['self'].depth", kind="EQUALS_MATCH", code=code)
        return part([10, 11, 12, after], [*rows], [guard])

    found = told(of("4", 13, (1, "value", "layer", "Linear module")), of("3", 14))
    assert found.line == 12 and found.difference.endswith("self.depth is 4 in rank 1, and 3 in rank 0.")


def test_an_operation_is_told_with_the_value_before_it() -> None:
    ours, theirs = (
        part([10, 11, 12], [(1, "value", "k", k), (2, "operation", "y", f"mul(x, {k})")]) for k in ("2", "3")
    )
    found = told(ours, theirs)
    assert found.line == 12
    assert found.difference.endswith("k is 2 in rank 1, and 3 in rank 0 (model.py:11).")


def test_ranks_that_differ_and_do_the_same() -> None:
    problem = divergences.difference_problem(told(part([10, 11], []), part([10, 12], [])))
    assert problem.cause == "rank 1 differs from ranks 0, 2-7"
    assert problem.statement.endswith("Their collectives are the same.")


def test_only_values_and_addresses_differ_in_ranks_that_do_the_same() -> None:
    ours, theirs = (part([10, 11], [(1, "value", "x", each), (1, "guard", "x", each)]) for each in ("f32[3]", "f32[4]"))
    assert decisions([ours]) == decisions([theirs])
    assert decisions([ours]) != decisions([part([10, 11], [(1, "operation", "y", "add(x, 1)")])])


def test_other_parameters_order_and_recompiles_are_told() -> None:
    assert divergences.other_gradients(["L['self']._modules['b']._parameters['bias']"], [], ("1", "0")) == (
        "Rank 1 uses self.b.bias, which rank 0 does not: DistributedDataParallel waits for their gradients in all "
        "ranks, unless find_unused_parameters=True."
    )
    swapped = Collective("all_reduce(sum)", "0", "f32[4]", ("L['y']",))
    order = divergences.other_order([REDUCE, swapped], [swapped, REDUCE], ("1", "0"))
    assert order == "Collective 1, all_reduce(sum) of f32[4] (model.py:13), takes x in rank 1 and y in rank 0."
    wrong = divergence(told(part([10, 11], []), part([10, 12], [])), "wrong", order)
    assert divergences.divergence_problem(wrong).effect == "No rank raises an error, and the results are wrong."
    again = part([10, 11], [], reason="tensor 'x' size mismatch at index 0. expected 6, actual 4")
    alone = divergences.alone(again, REDUCE, Collective("all_reduce(sum)", "0", "f32[6]"), ("1", "0"))
    assert alone.difference == (
        "Rank 1 compiles step again because of x.size()[0], and no other rank has done so meanwhile."
    )
    assert alone.collectives == (
        "Rank 1 calls all_reduce(sum) of f32[4] (model.py:13); where rank 0 runs the earlier compile, "
        "all_reduce(sum) of f32[6]."
    )
    assert (alone.path, alone.line) == (PATH, 13)


def test_without_the_record_of_the_other_rank_the_collective_alone_is_told() -> None:
    found = divergences.rank_difference([part([10, 11], [])], [], (1, 0), ("1", "0"), REDUCE)
    assert (found.line, found.difference) == (13, "")
