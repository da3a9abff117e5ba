"""Ranks that call other collectives uncompiled are told apart; what one calls in a graph and the other not is none."""

from __future__ import annotations

from dynascope.explain import divergences
from dynascope.facts.comparison.called import (
    Called,
    CalledInGroup,
    first_at_other_lines,
    first_begun_apart,
    first_difference,
    first_reordered,
    of_parameter,
)
from dynascope.facts.comparison.plain_branch import PlainBranch
from dynascope.facts.user_stack import UserFrame
from msgspec import structs

PATH = "/work/train.py"


def called(*calls: tuple[int, str] | tuple[int, str, int], is_counted: bool = True) -> CalledInGroup:
    """Each call: how many collectives had begun before it, what it takes, and its line."""
    made: list[Called] = []
    for number, (begun, takes, *line) in enumerate(calls):
        since = sum(each.place[1] == begun for each in made)
        stack = (UserFrame(PATH, line[0] if line else 7, "step"),)
        made.append(Called(("gloo", begun, since), number, "all_gather", takes, stack))
    return CalledInGroup(is_counted, made)


def parts(ours: CalledInGroup, theirs: CalledInGroup) -> tuple[str, str] | None:
    found = first_difference(ours, theirs)
    return None if found is None else (found[0].takes, found[1].takes)


def test_a_skipped_one_is_found() -> None:
    ours, theirs = called((0, "a"), (1, "b"), (2, "c")), called((0, "a"), (1, "c"))
    assert parts(ours, theirs) == ("b", "c")


def test_a_rank_that_is_ahead_does_not_part() -> None:
    assert parts(called((0, "a"), (1, "b"), (2, "c")), called((0, "a"))) is None


def test_what_one_calls_in_a_graph_is_no_difference() -> None:
    assert parts(called((0, "a"), (1, "b"), (2, "c")), called((0, "a"), (2, "c"))) is None


def test_a_graph_that_counts_in_one_rank_alone_is_no_difference() -> None:
    assert parts(called((0, "a"), (1, "b"), (2, "c")), called((1, "a"), (2, "b"), (3, "c"))) is None


def test_a_group_in_which_two_ranks_communicate_is_not_compared() -> None:
    assert parts(called((0, "a"), (1, "b")), called((0, "b"), (1, "a"), is_counted=False)) is None


def test_several_that_begin_as_one_are_compared_in_their_order() -> None:
    assert parts(called((0, "a"), (0, "b")), called((0, "a"), (0, "c"))) == ("b", "c")


def test_ranks_part_where_their_lines_do() -> None:
    ours, theirs = called((0, "a"), (1, "a", 8), (2, "b", 9)), called((0, "a"), (1, "a", 10), (2, "c", 11))
    found = first_difference(ours, theirs)
    assert found is not None and (found[0].stack[-1].line, found[1].stack[-1].line) == (8, 10)


def of_elements(*names: str) -> CalledInGroup:
    """Two rounds of a loop over these names, and a collective without a loop."""
    made = called(*((number, "f32[1]") for number in range(2 * len(names))), (9, "f32[4]", 12))
    calls = [
        structs.replace(each, element=f"name is {name!r}")
        for each, name in zip(made.calls, [*names, *names], strict=False)
    ]
    return CalledInGroup(True, [*calls, made.calls[-1]])


def test_ranks_part_where_the_elements_of_a_loop_do() -> None:
    ours, theirs = of_elements("a", "b", "d"), of_elements("a", "c", "d")
    theirs.calls[4] = structs.replace(theirs.calls[4], takes="f32[2]")
    found = first_difference(ours, theirs)
    assert found is not None and (found[0].element, found[1].element) == ("name is 'b'", "name is 'c'")
    files, others = of_elements("0/a", "0/b"), of_elements("1/a", "1/b")
    others.calls[3] = structs.replace(others.calls[3], takes="f32[2]")
    found = first_difference(files, others)
    assert found is not None and found[1] is others.calls[3]


def test_one_loop_in_two_orders_is_found_where_its_elements_are_passed() -> None:
    ours, theirs = of_elements("a", "b", "c"), of_elements("b", "a", "c")
    found = first_reordered(ours, theirs, lambda frame: frame.line == 7)
    assert found is not None
    fact = divergences.other_elements(*found, ("0", "1"), None)
    assert (fact.line, fact.effect, fact.difference) == (7, "wrong", "name is 'a' in rank 0, and 'b' in rank 1.")
    assert fact.collectives == ("Rank 0 and rank 1 call all_gather of f32[1] (train.py:7) in the order of their loops.")
    assert first_reordered(ours, theirs, lambda frame: False) is None
    assert first_reordered(ours, of_elements("b", "d", "c"), bool) is None


def at_lines(takes: str, *lines: int) -> CalledInGroup:
    return called(*((number, takes, line) for number, line in enumerate(lines)))


def test_one_loop_whose_elements_call_at_lines_of_their_own_is_found() -> None:
    found = first_at_other_lines(at_lines("f32[1]", 7, 9), at_lines("f32[1]", 9, 7))
    assert found is not None
    one, other = structs.replace(found[0], element="hook is a Sum"), structs.replace(found[1], element="hook is a Mean")
    fact = divergences.other_elements(one, other, ("0", "1"), None)
    assert fact.difference == "hook is a Sum in rank 0, and a Mean in rank 1."
    assert fact.collectives == (
        "Rank 0 calls all_gather of f32[1] (train.py:7), and rank 1 all_gather of f32[1] (train.py:9): "
        "both call the same ones, in another order."
    )
    # one of them may have a line for itself
    assert first_at_other_lines(at_lines("f32[1]", 7, 7), at_lines("f32[1]", 9, 7)) is None
    assert first_at_other_lines(at_lines("", 7, 9), at_lines("", 9, 7)) is None


def of_parameters(*names: str) -> CalledInGroup:
    made = of_elements(*names)
    elements = [*(of_parameter("p", name) for name in (*names, *names)), ""]
    return CalledInGroup(
        True, [structs.replace(each, element=it) for each, it in zip(made.calls, elements, strict=True)]
    )


def test_ranks_that_reduce_other_parameters_are_found() -> None:
    ours, theirs = of_parameters("body", "head.a", "tail"), of_parameters("body", "head.b", "tail")
    found = first_reordered(ours, theirs, bool)
    assert found is not None
    skips = PlainBranch(PATH, 5, "step", "p.grad is None", ["p"], "skips", None)
    fact = divergences.other_elements(*found, ("0", "1"), skips)
    assert (fact.line, fact.difference) == (
        5,
        "Where `p.grad is None`, the loop goes on with its next element. "
        "p is the parameter head.a in rank 0, and the parameter head.b in rank 1.",
    )
    # a module that each rank names in its own way
    assert first_reordered(of_parameters("a.body", "a.head"), of_parameters("b.body", "b.head"), bool) is None


def test_it_is_told_which_collectives_they_call() -> None:
    (ours,), (theirs,) = called((1, "layers.1.weight (f32[136])")).calls, called((1, "", 9)).calls
    fact = divergences.at_run_time(ours, theirs, "0", ("1", "0, 2, 3"))
    assert divergences.announced(fact, "step") == (
        "rank 1 parts from ranks 0, 2, 3 at train.py:7 in step: "
        "Rank 1 calls all_gather of layers.1.weight (f32[136]) (train.py:7), and ranks 0, 2, 3 all_gather "
        "(train.py:9). One waits for the other until its time-out, its backend raises an error, or the results are "
        "wrong."
    )


def begun(*operations: str) -> CalledInGroup:
    """Return the collectives of a rank as torch's flight recorder keeps them."""
    made = [Called(("gloo", number, 0), number, each, "", ()) for number, each in enumerate(operations, 3)]
    return CalledInGroup(True, [], made)


def test_those_of_graphs_are_compared_by_their_numbers() -> None:
    found = first_begun_apart(begun("all_reduce", "all_gather", "barrier"), begun("all_reduce", "barrier"))
    assert found is not None and [each.operation for each in found] == ["all_gather", "barrier"]
    assert first_begun_apart(begun("all_reduce", "all_gather"), begun("all_reduce")) is None
    fact = divergences.at_run_time(*found, "0", ("1", "0"), is_uncompiled=False)
    assert fact.difference == "It is collective 4 of their process group at run time; those before it are alike."
    assert fact.collectives == "Rank 1 calls all_gather, and rank 0 barrier."
