"""What goes with an object of the program goes without Python code, which Dynamo would compile."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.inspection.values.concrete import instance_dictionary, slots
from dynascope.agent.internals.weak_keys import WeakKeys
from torch._dynamo.utils import counters

pytestmark = pytest.mark.second_leg


class Key:
    """An object in a cycle, which a collection frees."""

    def __init__(self) -> None:
        self.itself = self


def test_dynamo_compiles_nothing_more_where_a_key_goes_between_two_graphs():
    known: WeakKeys[Key, list[int]] = WeakKeys()

    @torch.compile(backend="eager")
    def f(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        gc.collect()
        return y * 2

    f(torch.ones(3))
    frames = dict(counters["frames"])
    known.put(Key(), [1])
    assert known.values() == [[1]]
    f(torch.ones(3))
    assert known.values() == [] and counters["frames"] == frames


@pytest.mark.second_leg_only
def test_a_value_is_told_by_identity_and_goes_with_its_key():
    known: WeakKeys[object, str] = WeakKeys()
    one, other = Key(), Key()
    one.__class__.__eq__ = lambda *_: True  # type: ignore[method-assign, assignment]
    try:
        assert known.put(one, "one") == "one" and known.get(other) is None
        assert known.put(one, "again") == "again" and known.values() == ["again"] and known.get(None) is None
        for _ in range(100):
            known.put(Key(), "gone")
        del one
        gc.collect()
        assert known.values() == [] and len(known._references) <= 120
        known.put(other, "other")
        assert len(known._references) == 1
    finally:
        del Key.__eq__
    with pytest.raises(TypeError):
        known.put(3, "no weak references")


@pytest.mark.second_leg_only
def test_a_class_with_slots_goes_after_a_look_at_its_instances():
    class Base:
        __slots__ = ("above", "unset")

    class Slotted(Base):
        __slots__ = ("__weakref__", "here")

    value = Slotted()
    value.above, value.here = 1, 2
    assert slots(value) == {"here": 2, "above": 1} and instance_dictionary(value) == {}
    of_class = weakref.ref(Slotted)
    del value, Base, Slotted
    gc.collect()
    assert of_class() is None


def test_threads_may_use_one_at_the_same_time():
    known: WeakKeys[Key, int] = WeakKeys()
    wrong = []

    def use() -> None:
        for number in range(2000):
            key = Key()
            key.itself = None  # type: ignore[assignment]
            known.put(key, number)
            if known.get(key) != number:
                wrong.append(number)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong and known.values() == []
