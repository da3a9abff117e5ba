"""Two ranks that wait for each other in a send or a receive are found, and no others."""

from __future__ import annotations

from dynascope.facts.comparison.called import Called, CalledInGroup
from dynascope.facts.comparison.peer_exchanges import direction, waiting_for_each_other


def exchanges(*ways: tuple[int, int], waits: bool = True) -> CalledInGroup:
    calls: list[Called] = []
    for source, destination in ways:
        way = direction("0", source, destination)
        count = sum(each.place[0] == way for each in calls)
        calls.append(Called((way, count, 0), len(calls), f"{source} to {destination}", "f32[4]", ()))
    return CalledInGroup(waits, calls)


def test_two_ranks_that_both_send_wait_for_each_other() -> None:
    found = waiting_for_each_other(exchanges((1, 2), (1, 2)), exchanges((1, 2), (2, 1)), (1, 2))
    assert found is not None and (found[0].operation, found[1].operation) == ("1 to 2", "2 to 1")


def test_a_rank_that_has_a_partner_or_computes_does_not() -> None:
    sends = exchanges((1, 2), (1, 2))
    assert waiting_for_each_other(sends, exchanges((1, 2), (1, 2)), (1, 2)) is None
    assert waiting_for_each_other(sends, exchanges((1, 2), (2, 1), waits=False), (1, 2)) is None
    assert waiting_for_each_other(exchanges((1, 2), (2, 1)), exchanges((1, 2), (2, 1), (2, 1)), (1, 2)) is None


def test_a_rank_that_waits_for_a_third_does_not() -> None:
    assert waiting_for_each_other(exchanges((1, 2), (1, 2)), exchanges((1, 2), (2, 3)), (1, 2)) is None
    assert waiting_for_each_other(exchanges((1, 2)), exchanges(), (1, 2)) is None
