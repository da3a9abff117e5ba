"""What is said of ranks that part: who, where, which value, and what comes of it."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest
from dynascope.explain import divergences, rank_differences
from dynascope.facts import model
from dynascope.facts.comparison.newest_calls import PairOfCalls
from dynascope.facts.comparison.ranks import (
    Collective,
    PartOfCall,
    decisions,
    in_backward,
    is_reordered,
    of_inputs,
    part_of,
)
from dynascope.facts.comparison.trail import DECISION_KINDS, DecisionKind, Trail
from dynascope.facts.user_stack import UserFrame
from dynascope.rank_names import ranks_text
from msgspec import structs

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
    return rank_differences.rank_difference([ours], [theirs], (1, 0), ("1", "0, 2-7"))


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
    assert divergences.other_collective(None, REDUCE, ("1", "0"), "0, 1") == (
        "Rank 0 calls all_reduce(sum) of f32[4] (model.py:13) in the process group of ranks 0, 1, which rank 1 does "
        "not call."
    )
    fact = divergence(found, "hangs", called)
    assert divergences.announced(fact, "step") == (
        f"rank 1 parts from ranks 0, 2-7 at model.py:12 in step: {found.difference} {called} "
        "One waits for the other until its time-out, its backend raises an error, or the results are wrong."
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


@pytest.mark.parametrize(
    ("expression", "kind", "code", "told_of_it"),
    [
        (
            "L['self']._modules['norm']._forward_hooks",
            "SEQUENCE_LENGTH",
            "len(L['self']._modules['norm']._forward_hooks) == 1",
            "self.norm has a forward hook in rank 1, and none in rank 0.",
        ),
        (
            "L['self'].layers",
            "SET_CONTAINS",
            "set.__contains__(L['self'].layers, 1)",
            "self.layers has 1 in rank 1, and not in rank 0.",
        ),
        (
            "L['self'].layers",
            "SET_NOT_CONTAINS",
            "not set.__contains__(L['self'].layers, 1)",
            "self.layers has 1 in rank 0, and not in rank 1.",
        ),
    ],
)
def test_a_condition_that_one_side_guards_is_told(expression: str, kind: str, code: str, told_of_it: str) -> None:
    guard = model.Guard(path=PATH, line=12, expression=expression, kind=kind, code=["___check_type_id(x, 1)", code])
    found = told(part([10, 11, 12, 13], [], [guard]), part([10, 11, 12, 14], []))
    assert (found.line, found.difference.partition(". ")[2]) == (12, told_of_it)


def test_an_attribute_that_one_rank_lacks_is_told_where_both_ask_for_it() -> None:
    sides = [
        part(
            [10, 11, 12, after],
            [],
            [model.Guard(path=PATH, line=12, expression="L['self']", kind="HASATTR", code=[code])],
        )
        for after, code in ((13, "hasattr(L['self'], 'center')"), (14, "not hasattr(L['self'], 'center')"))
    ]
    assert told(*sides).difference.endswith("self has 'center' in rank 1, and not in rank 0.")
    assert told(*sides[::-1]).difference.endswith("self has 'center' in rank 0, and not in rank 1.")


def test_a_global_of_the_program_is_told_by_its_name() -> None:
    source = "G['__import___main__'].PACKED"
    guards = [
        model.Guard(path=PATH, line=12, expression=source, kind="CONSTANT_MATCH", code=[f"{source} == {each}"])
        for each in (True, False)
    ]
    found = told(part([10, 11, 12, 13], [], guards[:1]), part([10, 11, 12, 14], [], guards[1:]))
    assert found.difference.endswith(" PACKED is True in rank 1, and False in rank 0.")


def test_a_branch_that_does_no_harm_is_not_told_for_one_that_leads_to_a_collective() -> None:
    def of(first: int, after: list[int], sync: str) -> PartOfCall:
        code = [f"L['sync'] == {sync}"]
        guard = model.Guard(path=PATH, line=12, expression="L['sync']", kind="CONSTANT_MATCH", code=code)
        return part([10, first, 12, *after], [], [guard])

    ours, theirs = of(11, [14], "False"), of(10, [13, 14], "True")
    found = rank_differences.rank_difference([ours], [theirs], (1, 0), ("1", "0"), (None, REDUCE))
    assert (found.line, found.difference) == (
        12,
        "Rank 1 goes on at line 14 next, and rank 0 goes on at line 13. sync is False in rank 1, and True in rank 0.",
    )


def test_a_newest_compile_explains_what_ranks_call_at_run_time() -> None:
    ours, theirs = (part([10, 11, 12, after], [], []) for after in (14, 13))
    ours.collectives.clear()
    barrier = Collective("barrier", "0", "", stack=(UserFrame("/work/train.py", 9, "<module>"),))
    found = rank_differences.newest_difference(PairOfCalls([ours], [theirs], True), (1, 0), (barrier, REDUCE))
    assert found is not None and found.line == 12
    assert found.difference == (
        "When step was compiled last: Rank 1 goes on at line 14 next, and rank 0 goes on at line 13."
    )
    assert rank_differences.newest_difference(PairOfCalls([theirs], [theirs], True), (1, 0), (barrier, REDUCE)) is None
    assert rank_differences.newest_difference(PairOfCalls([ours], [theirs], True), (1, 0), (barrier, barrier)) is None


def test_a_parameter_that_one_rank_has_frozen_keeps_a_backward_from_calling() -> None:
    frames = UserFrame(PATH, 13, "step"), UserFrame(PATH, 4, "Copied.backward")
    called = structs.replace(REDUCE, group=in_backward("0"), stack=frames)
    ours, theirs = (part([10, 11, 12], []) for _ in range(2))
    ours.collectives, ours.frozen, theirs.collectives = [], ["L['self'].table"], [called]
    pair = PairOfCalls([ours], [theirs], True)
    barrier = Collective("barrier", "0", "", stack=(UserFrame("/work/train.py", 9, "<module>"),))
    found = rank_differences.newest_difference(pair, (1, 0), (barrier, REDUCE))
    assert found is not None and (found.line, found.difference) == (
        13,
        "When step was compiled last: self.table.requires_grad is True in rank 0, and False in rank 1.",
    )
    apart = rank_differences.compiled_apart(pair, (1, 0), ("1", "0"), {"0": (1, 0)})
    assert apart is not None and apart.difference == found.difference
    ours.frozen = []
    assert rank_differences.newest_difference(pair, (1, 0), (barrier, REDUCE)) is None


def test_the_placements_of_a_tensor_are_told_where_one_rank_needs_no_collective(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [*["\n"] * 12, "    full = feats.redistribute(placements=[Replicate()])\n"]
    monkeypatch.setitem(linecache.cache, PATH, (1, None, lines, PATH))
    ours, theirs = part([10, 11, 12], []), part([10, 11, 12], [])
    ours.placements = {"L['y']": "a DTensor with Replicate()", "L['feats']": "a DTensor with Replicate()"}
    theirs.placements = {"L['y']": "a DTensor with Shard(dim=1)", "L['feats']": "a DTensor with Shard(dim=0)"}
    found = rank_differences.rank_difference([ours], [theirs], (1, 0), ("1", "0"), (None, REDUCE))
    assert (found.line, found.difference) == (
        13,
        "feats is a DTensor with Replicate() in rank 1, and a DTensor with Shard(dim=0) in rank 0.",
    )


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
    assert problem.statement.endswith("Their compiled collectives are the same in the process groups of both.")


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
    computed = [structs.replace(REDUCE, computed=each) for each in ("neg", "sum")]
    assert divergences.other_order(computed, computed[::-1], ("1", "0")) == (
        "Collective 1, all_reduce(sum) of f32[4] (model.py:13), takes another tensor in rank 1 than in rank 0."
    )
    later = [structs.replace(REDUCE, after=each) for each in ("", "ar")]
    assert divergences.other_order(later, later[::-1], ("1", "0")) == (
        "Collective 1, all_reduce(sum) of f32[4] (model.py:13), is called before collectives of other process groups "
        "in rank 1 and after them in rank 0."
    )
    assert is_reordered(of_inputs(later[:1], later), of_inputs(later[1:], later))
    assert is_reordered(of_inputs(computed, computed), of_inputs(computed[::-1], computed))
    other = [*computed[:1], REDUCE]
    assert not is_reordered(of_inputs(computed, computed), of_inputs(other, other))
    packed = [structs.replace(REDUCE, packed=(f"L['g']['{one}']", f"L['g']['{two}']")) for one, two in ("ab", "ba")]
    assert is_reordered(of_inputs(packed[:1], packed[:1]), of_inputs(packed[1:], packed[1:]))
    assert divergences.other_order(packed[:1], packed[1:], ("1", "0")) == (
        "Collective 1, all_reduce(sum) of f32[4] (model.py:13), takes in one tensor g['a'], g['b'] in rank 1 and "
        "g['b'], g['a'] in rank 0."
    )
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


def test_dynamic_sizes_that_the_line_reads_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(linecache.cache, PATH, (1, None, ["\n"] * 10 + ["for at in range(0, x.size(0), 8):\n"], PATH))
    ours, theirs = part([10, 11, 12], []), part([10, 11, 13], [])
    ours.sizes = {"L['y'].size()[0]": "3", "L['x'].size()[0]": "20"}
    theirs.sizes = {"L['y'].size()[0]": "4", "L['x'].size()[0]": "13"}
    assert told(ours, theirs).difference == (
        "Rank 1 goes on at line 12 next, and rank 0 goes on at line 13. x.size()[0] is 20 in rank 1, and 13 in rank 0."
    )


def test_without_the_record_of_the_other_rank_the_collective_alone_is_told() -> None:
    found = rank_differences.rank_difference([part([10, 11], [])], [], (1, 0), ("1", "0"), (REDUCE, None))
    assert (found.line, found.difference) == (13, "")


def test_a_value_that_changes_the_tensor_is_told_past_another(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text("\n" * 10 + "    y = x[:kept]\n")

    def of(scale: str, kept: str) -> PartOfCall:
        rows: list[Row] = [(0, "value", "scale", scale), (1, "value", "y", f"f32[{kept}]")]
        guard = model.Guard(
            path=str(source), line=11, expression="G['kept']", kind="EQUALS_MATCH", code=[f"G['kept'] == {kept}"]
        )
        made = part([10, 11, 12, 13], rows, [guard])
        made.trail.texts[0] = str(source)
        return structs.replace(made, collectives=[structs.replace(REDUCE, takes=f"f32[{kept}]")])

    ours, theirs = of("2", "3"), of("1", "4")
    at = ours.collectives[0], theirs.collectives[0]
    found = rank_differences.rank_difference([ours], [theirs], (1, 0), ("1", "0"), at)
    assert found.difference == "y is f32[3] in rank 1, and f32[4] in rank 0. kept is 3 in rank 1, and 4 in rank 0."


def test_a_setting_of_the_collective_is_told_past_another() -> None:
    def of(scale: str, kind: str) -> PartOfCall:
        made = part([10, 11, 12, 13], [(0, "value", "scale", scale), (1, "value", "kind", repr(kind))])
        return structs.replace(made, collectives=[structs.replace(REDUCE, operation=f"all_reduce({kind})")])

    ours, theirs = of("2", "avg"), of("1", "sum")
    at = ours.collectives[0], theirs.collectives[0]
    found = rank_differences.rank_difference([ours], [theirs], (1, 0), ("1", "0"), at)
    assert (found.line, found.difference) == (11, "kind is 'avg' in rank 1, and 'sum' in rank 0.")


def test_a_condition_without_a_guard_is_told(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text("\n" * 11 + "    if w.requires_grad:\n        y = 1\n    z = 2\n")

    def of(after: int) -> PartOfCall:
        made = part([10, 11, 12, after], [])
        made.trail.texts[0] = str(source)
        return made

    assert told(of(14), of(13)).difference.endswith(". `w.requires_grad` is true in rank 0, and false in rank 1.")


def test_a_value_on_the_stack_is_the_result_of_the_call() -> None:
    def of(value: str, after: int) -> PartOfCall:
        code = [f"L['___stack0'] == {value}"]
        guard = model.Guard(path=PATH, line=12, expression="L['___stack0']", kind="EQUALS_MATCH", code=code)
        return part([12, after], [], [guard], resumes_at=12)

    difference = told(of("4.0", 13), of("2.0", 14)).difference
    assert difference.endswith(" The result of the call there is 4.0 in rank 1, and 2.0 in rank 0.")


def test_what_follows_a_graph_break_takes_the_result_of_its_line() -> None:
    def of(value: str, after: int) -> PartOfCall:
        code = [f"L['___stack0'][2] == {value}"]
        guard = model.Guard(path=PATH, line=15, expression="L['___stack0'][2]", kind="EQUALS_MATCH", code=code)
        return part([10, 15, after], [], [guard], resumes_at=12)

    difference = told(of("0", 16), of("2", 17)).difference
    assert difference.endswith(" Element 2 of the result of line 12 is 0 in rank 1, and 2 in rank 0.")


def test_a_guard_on_none_is_told_with_that_on_a_number_which_is_made_elsewhere() -> None:
    def of(value: str, kind: str, line: int, after: int) -> PartOfCall:
        guard = model.Guard(path=PATH, line=line, expression="L['last']", kind=kind, code=[f"L['last'] {value}"])
        return part([12, 13, after, 16], [], [guard])

    difference = told(of("is None", "CONSTANT_MATCH", 13, 14), of("== 4", "EQUALS_MATCH", 16, 15)).difference
    assert difference.endswith(" last is None in rank 1, and 4 in rank 0.")


def test_a_value_that_one_side_reads_leads_to_a_branch() -> None:
    code = ["G['settings']['scale'] == 2.0"]
    guard = model.Guard(path=PATH, line=12, expression="G['settings']['scale']", kind="CONSTANT_MATCH", code=code)
    difference = told(part([10, 11, 12, 13], [], [guard]), part([10, 11, 12, 14], [])).difference
    assert difference.endswith(" settings['scale'] is 2.0 in rank 1, and rank 0 does not read it.")


@pytest.fixture
def handling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source of `step`, which handles an error at line 14."""
    path = tmp_path / "model.py"
    lines = ["\n"] * 11 + [
        "    try:\n",
        "        y = parts[key]\n",
        "    except KeyError:\n",
        "        z = self.cfg.sync\n",
    ]
    path.write_text("".join(lines))
    monkeypatch.setattr(f"{__name__}.PATH", str(path))


@pytest.mark.usefixtures("handling")
def test_an_error_that_one_rank_handles_is_told() -> None:
    rows: list[Row] = [(0, "value", "key", "'de'")]
    found = told(part([11, 13, 14], rows), part([11, 13, 16], [*rows, (1, "value", "y", "f32[4]")]))
    assert found.difference == (
        "Rank 1 goes on at line 14 next, and rank 0 goes on at line 16. "
        "`KeyError` is raised there in rank 1, and not in rank 0, key is 'de' in both, and y is f32[4] in rank 0."
    )


@pytest.mark.usefixtures("handling")
def test_a_value_is_named_as_its_line_does() -> None:
    sides = [
        part(
            [11, 15],
            [],
            [model.Guard(path=PATH, line=15, expression="L['fn'][1].cfg.sync", kind="EQUALS_MATCH", code=[code])],
        )
        for code in ("L['fn'][1].cfg.sync == True", "L['fn'][1].cfg.sync == False")
    ]
    assert "self.cfg.sync is True in rank 1, and False in rank 0." in told(*sides).difference


def of_group(line: int, name: str, ranks: str) -> model.Guard:
    expression = f"L['self'].{name}.group_name"
    return model.Guard(
        path=PATH, line=line, expression=expression, kind="EQUALS_MATCH", code=[f"{expression} == '{ranks}'"]
    )


def test_one_group_under_two_names_is_told_by_the_name_that_is_read_there() -> None:
    lines = [11, 13, 16]
    ours = part(lines, [], [of_group(13, "pair", "ranks 2, 3"), of_group(16, "pair", "ranks 2, 3")])
    theirs = part(lines, [], [of_group(13, "pair", "ranks 2, 3"), of_group(16, "norm", "ranks 0, 2")])
    assert told(ours, theirs).difference == "self.norm is 'ranks 2, 3' in rank 1, and 'ranks 0, 2' in rank 0."
    same = part(lines, [], [of_group(13, "pair", "ranks 2, 3"), of_group(16, "norm", "ranks 2, 3")])
    assert told(ours, same).difference == ""
