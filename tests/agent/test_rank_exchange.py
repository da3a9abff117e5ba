"""Digests on the store of a job: what differs is found by the rank that comes later, whichever that is."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import pytest
import torch.distributed as dist
from dynascope.agent.internals.process_groups import JobStore
from dynascope.agent.ranks.calls import FunctionPlace, TracedCall, texts_of
from dynascope.agent.ranks.comparison import _may_fit
from dynascope.agent.ranks.exchange import Disagreement, Exchange, LeftCall
from dynascope.facts.comparison.ranks import Collective, PartOfCall
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.model import Compile

GROUP = "0"
STEP = FunctionPlace("/work/model.py", 3, "step")


@pytest.fixture
def ranks() -> Iterator[list[Exchange]]:
    server = dist.TCPStore("127.0.0.1", 0, None, True, timeout=datetime.timedelta(seconds=60), wait_for_workers=False)
    yield [Exchange(JobStore("127.0.0.1", server.port, rank, {GROUP: (0, 1, 2)}), "0") for rank in range(3)]
    del server


def collective(takes: str, *inputs: str) -> Collective:
    return Collective("all_reduce(sum)", GROUP, takes, inputs)


def call(
    *collectives: Collective, is_over: bool = True, lines: tuple[int, ...] = (1, 2), number: int = 0
) -> TracedCall:
    compile = Compile(
        compile_id="0/0", function="step", path="/work/model.py", line=3, status="compiled", began=0.0, seconds=1.0
    )
    trail = Trail(["/work/model.py", "step"], [(0, 1, -1)], [each for line in lines for each in (0, line)], [])
    return TracedCall(STEP, number, [PartOfCall(compile, [], [], trail, list(collectives))], is_over=is_over)


A, B, LARGER = collective("f32[4]", "a"), collective("f32[4]", "b"), collective("f32[8]", "a")


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (call(A, B), call(A, B), None),
        (call(), call(), None),
        (call(A), call(LARGER), Disagreement(0, GROUP, 0)),
        (call(A, A), call(A), Disagreement(0, GROUP, 1)),
        (call(A), call(A, A), Disagreement(0, GROUP, 1)),
        (call(), call(A), Disagreement(0, GROUP, 0)),
        (call(A), call(), Disagreement(0, GROUP, 0)),
        (call(A, B), call(B, A), Disagreement(0, GROUP, None, is_reordered=True)),
        (call(A), call(B), Disagreement(0, GROUP, None)),  # an expert of its own: both sum what they have
        (call(A), call(A, lines=(1, 3)), Disagreement(0, GROUP, None)),
        # what follows a graph break is not known yet
        (call(A, is_over=False), call(A, B), None),
        (call(A, B), call(A, is_over=False), None),
        (call(A), call(A, B, is_over=False), Disagreement(0, GROUP, 1)),
        (call(A, B, is_over=False), call(A), Disagreement(0, GROUP, 1)),
        (call(A, is_over=False), call(LARGER, is_over=False), Disagreement(0, GROUP, 0)),
    ],
)
def test_what_differs_is_found_by_the_later_rank(
    ranks: list[Exchange], first: TracedCall, second: TracedCall, found: Disagreement | None
) -> None:
    assert list(ranks[0].compare(first)) == []
    assert list(ranks[1].compare(second)) == ([found] if found is not None else [])


def test_the_parts_of_the_earlier_rank_are_there_and_one_rank_tells(ranks: list[Exchange]) -> None:
    earlier, later, third = call(A), call(LARGER), call(LARGER)
    assert list(ranks[0].compare(earlier)) == []
    for rank, each in ((1, later), (2, third)):
        assert [one.rank for one in ranks[rank].compare(each)] == [0]
    (part,) = ranks[1].left_by(later, 0).parts
    assert part.compile.function == "step" and part.collectives == [A] and part.trail.lines == [0, 1, 0, 2]
    assert ranks[1].sides(later, 0, GROUP) == ([1, 2], [0])
    assert ranks[1].tells(later, GROUP, "hangs") and not ranks[2].tells(third, GROUP, "hangs")


def test_gradients_that_one_rank_lacks(ranks: list[Exchange]) -> None:
    first, second = call(), call()
    first.gradients[GROUP], second.gradients[GROUP] = {"a", "b"}, {"a"}
    assert list(ranks[0].compare(first)) == []
    assert list(ranks[1].compare(second)) == [Disagreement(0, GROUP, None, gradients=([], ["b"]))]


def test_a_rank_is_alone_until_another_compiles_the_call(ranks: list[Exchange]) -> None:
    mine = call(A)
    list(ranks[0].compare(mine))
    assert ranks[0].is_alone(mine, GROUP, 0.1)
    list(ranks[2].compare(call(A)))
    assert not ranks[0].is_alone(mine, GROUP, 0.1)


def test_a_store_that_is_gone_is_an_error_that_ends_the_comparison() -> None:
    server = dist.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
    exchange = Exchange(JobStore("127.0.0.1", server.port, 0, {GROUP: (0, 1)}), "0")
    del server
    with pytest.raises(RuntimeError):
        list(exchange.compare(call(A)))


def test_nothing_is_compared_of_a_function_whose_calls_are_numbered_in_different_ways(ranks: list[Exchange]) -> None:
    first, second = (call(each) for each in (A, LARGER))
    first.number = second.number = 1
    list(ranks[0].compare(first))
    ranks[2].number_apart(first)
    assert list(ranks[1].compare(second)) == []
    assert not ranks[0].is_alone(call(A, number=2), GROUP, 60)


def test_a_recompile_may_be_no_partner_of_one_of_the_same_number() -> None:
    """One rank has compiled once more than the other, or evaluates alone."""
    for ours, theirs, earlier, their_earlier, fits in (
        ([LARGER], [A], [[A]], [[A]], True),
        ([A], [LARGER], [[A]], [[A]], True),
        ([LARGER], [], [[A]], [[A]], True),
        ([LARGER], [B, B, B], [[A]], [[A]], False),
    ):
        mine, left = (
            call(*ours),
            LeftCall(call(*theirs).parts, {GROUP: [texts_of(each, GROUP) for each in their_earlier]}),
        )
        mine.earlier = earlier
        assert _may_fit(mine, left, GROUP) is fits
