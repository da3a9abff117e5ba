"""Hooks do not change where Python collects garbage: counts and lists of freed containers are as before."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator

import pytest
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.program import collector, free_lists

_OF_THE_TEST = 3
"""How many containers a test itself may keep."""

left: list[object] = []


def leave_many() -> None:
    left.extend([[number] for number in range(600)])


def leave_tuples() -> None:
    left.extend([(number, number) for number in range(300)])


def make_and_free_tuples() -> None:
    assert len([(number, number, number) for number in range(300)]) == 300


def free_what_was_left() -> None:
    left.clear()


BODIES = leave_many, leave_tuples, make_and_free_tuples, free_what_was_left


@pytest.fixture(autouse=True)
def prepared() -> Iterator[None]:
    """Collect nothing between the lines of a test, and leave nothing behind."""
    collector.prepare()
    gc.collect()
    gc.disable()
    yield
    left.clear()
    gc.enable()


def state() -> tuple[tuple[int, ...], list[int]]:
    """Return the counts, and how many freed containers Python keeps."""
    counts = gc.get_count()
    return counts, free_lists.lengths()


def differences(body: Callable[[], object]) -> list[int]:
    """Return by how much each number of the state differs after a body."""
    (counts, lengths), _ = state(), body()
    after, lengths_after = state()
    return [b - a for a, b in zip([*counts, *lengths], [*after, *lengths_after], strict=True)]


def far_apart(some: list[int], others: list[int]) -> list[tuple[int, int]]:
    return [(a, b) for a, b in zip(some, others, strict=True) if abs(a - b) > _OF_THE_TEST]


@pytest.mark.parametrize("body", BODIES)
def test_what_a_hook_allocates_is_not_counted(body: Callable[[], None]) -> None:
    left.extend([[number] for number in range(100)])
    failures = HookFailures(pytest.fail)

    def nothing() -> None:
        pass

    def hook(body: Callable[[], None] = body) -> None:
        with failures:
            body()

    assert far_apart(differences(hook), differences(lambda: hook(nothing))) == []


def test_without_a_hook_it_is() -> None:
    nothing = differences(lambda: None)
    assert all(far_apart(differences(body), nothing) for body in BODIES)


def test_more_than_is_reserved_is_not_counted_after_a_collection_of_the_youngest() -> None:
    gc.enable()
    before = gc.get_count()
    with HookFailures(pytest.fail).in_brief:
        left.extend([[number] for number in range(60_000)])
    after = gc.get_count()
    assert abs(after[0] - before[0]) < 10 and after[1] == before[1] + 1


@pytest.mark.parametrize("is_enabled", [True, False])
def test_nothing_is_collected_in_a_hook(is_enabled: bool) -> None:
    (gc.enable if is_enabled else gc.disable)()
    failures = HookFailures(pytest.fail)
    with failures, failures.in_brief:
        before = gc.get_stats()[0]["collections"]
        leave_many()
        leave_many()
        assert gc.get_stats()[0]["collections"] == before
    assert gc.isenabled() is is_enabled


def test_what_is_done_again_is_not_counted() -> None:
    def again() -> None:
        collector.hold()
        leave_many()
        with HookFailures(pytest.fail):
            collector.let_go()
            leave_many()
        collector.let_go()

    before = gc.get_count()
    again()
    assert abs(gc.get_count()[0] - before[0]) < 10


def test_while_a_thread_waits_in_a_hook_others_collect() -> None:
    gc.enable()
    ends = threading.Event()
    other = threading.Thread(target=ends.wait)
    with HookFailures(pytest.fail):
        with collector.waiting():
            assert not gc.isenabled()
        other.start()
        with collector.waiting():
            assert gc.isenabled()
        ends.set()
        other.join()
        assert not gc.isenabled()
    assert gc.isenabled()
