"""Hooks do not change where Python collects garbage: the counts are as before."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.program import collector, free_lists

_OF_THE_TEST = 3
"""How many containers a test itself may keep."""

left: list[object] = []


def leave_many() -> None:
    left.extend([[number] for number in range(600)])


def free_what_was_left() -> None:
    left.clear()


BODIES = leave_many, free_what_was_left


@pytest.fixture(autouse=True)
def prepared() -> Iterator[None]:
    """Collect nothing between the lines of a test, and leave nothing behind."""
    gc.freeze()  # the objects of other tests in this process, which would take a second to visit
    collector.prepare()
    gc.collect()
    gc.disable()
    yield
    left.clear()
    gc.enable()
    gc.unfreeze()


def differences(body: Callable[[], object]) -> list[int]:
    """Return by how much each count differs after a body."""
    before, _ = gc.get_count(), body()
    return [b - a for a, b in zip(before, gc.get_count(), strict=True)]


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
    with HookFailures(pytest.fail):
        left.extend([[number] for number in range(60_000)])
    after = gc.get_count()
    assert abs(after[0] - before[0]) < 10 and after[1] == before[1] + 1


@pytest.mark.parametrize("is_enabled", [True, False])
def test_nothing_is_collected_in_a_hook(is_enabled: bool) -> None:
    (gc.enable if is_enabled else gc.disable)()
    failures = HookFailures(pytest.fail)
    with failures:
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


def test_while_a_thread_waits_in_a_hook_others_collect(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.enable()
    for threads in (1, 2):
        monkeypatch.setattr(collector, "shown_threads", lambda threads=threads: threads)
        with HookFailures(pytest.fail):
            with collector.waiting():
                assert gc.isenabled() is (threads > 1)
            assert not gc.isenabled()
        assert gc.isenabled()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/mem, which only Linux has")
@pytest.mark.parametrize("make", [lambda: (1, 2, 3, len(left)), lambda: [len(left)], lambda: {1: len(left)}])
def test_what_a_hook_frees_the_program_does_not_take(make: Callable[[], object]) -> None:
    assert collector._free_lists is not None

    def counted() -> int:
        before = gc.get_count()[0]
        left.extend([make() for _ in range(60)])
        return gc.get_count()[0] - before

    def make_and_free() -> None:
        del [make() for _ in range(600)][:]

    while counted() < 60:  # takes what Python has kept of earlier ones
        pass
    with HookFailures(pytest.fail):
        make_and_free()
    assert counted() > 50
    make_and_free()
    assert counted() < 10


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/mem, which only Linux has")
def test_the_count_is_restored_where_restoring_the_lists_changes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of freed containers that is full frees more of them, and those are counted."""
    lists = collector._free_lists
    assert lists is not None
    more = [[{number} for number in range(50)] for _ in range(2)]  # Python keeps no list of freed sets

    class Full:
        def lengths(self) -> object:
            return lists.lengths()

        def restore(self, lengths: object) -> None:
            lists.restore(lengths)
            if more:
                more.pop().clear()

    monkeypatch.setattr(collector, "_free_lists", Full())

    def hook() -> None:
        with HookFailures(pytest.fail):
            left.append([1])

    assert abs(differences(hook)[0]) <= _OF_THE_TEST


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/mem, which only Linux has")
def test_the_lists_and_the_count_are_as_before_whatever_hooks_keep_and_free() -> None:
    lists = collector._free_lists
    assert lists is not None
    failures = HookFailures(pytest.fail)
    bodies: list[Callable[[], object]] = [
        lambda: left.extend([(number, 1, 2) for number in range(900)]),
        lambda: left.extend([[number] for number in range(100)]),
        lambda: left.extend([{number: 1} for number in range(3)]),
        left.clear,
    ]

    def measured() -> list[int]:
        tuples, *others = lists.lengths()
        return [gc.get_count()[0], *others, *memoryview(tuples).cast("i")]

    del [(number, 1, 2) for number in range(1000)][:]  # a list that is half full
    differences = []
    for body in bodies * 4:
        before = measured()
        with failures:
            body()
        differences.append(far_apart(before, measured()))
    assert not any(differences), differences


def test_a_hook_that_ends_while_another_threads_restores_the_lists_leaves_them_alone() -> None:
    """Both would give back what is kept, and one of them would find nothing left."""
    lengths = [(ctypes.c_int * size)() for size in (19, 1, 1)]
    lists = free_lists.FreeLists(*map(ctypes.addressof, lengths))
    begun, goes_on = threading.Event(), threading.Event()

    def make() -> object:
        begun.set()
        assert goes_on.wait(60)
        return []

    lists._lists._make = make
    before = lists.lengths()
    lengths[1][0] = 1
    other = threading.Thread(target=lists.restore, args=[before])
    other.start()
    assert begun.wait(60)
    lengths[2][0] = 1
    lists.restore(before)
    assert not lists._dicts._kept
    goes_on.set()
    other.join()
    lists.restore(before)
    assert lists._dicts._kept
