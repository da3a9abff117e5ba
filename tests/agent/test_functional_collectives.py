"""Functional collectives that no graph calls are heard of, those of DTensors, too, and their operators stay alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from dynascope.agent.events.collectives import CalledCollective, CollectiveEvents
from dynascope.agent.events.hook_failures import HookFailures
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.testing._internal.distributed.fake_pg import FakeStore

pytestmark = pytest.mark.second_leg
OPERATOR = torch.ops._c10d_functional.all_reduce


@pytest.fixture
def heard() -> Iterator[list[CalledCollective]]:
    """What is heard in a process that is rank 0 of two; the other does not exist."""
    found: list[CalledCollective] = []
    failures: list[str] = []
    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    events = CollectiveEvents(found.append, lambda group: None, lambda exchange: None, HookFailures(failures.append))
    try:
        yield found
    finally:
        events.remove()
        dist.destroy_process_group()
    assert not failures


def told(called: list[CalledCollective]) -> list[tuple[str, str]]:
    return [(each.operation, each.takes) for each in called]


def test_those_of_plain_python_are_heard_of_as_methods_of_groups_are(heard: list[CalledCollective]) -> None:
    ones, group = torch.ones(2, 3), dist.group.WORLD
    functional.all_reduce(ones, "sum", group).wait()
    dist.all_reduce(ones)
    functional.all_gather_tensor(ones, 0, group).wait()
    functional.reduce_scatter_tensor(ones, "sum", 0, group).wait()
    functional.broadcast(ones, 0, group).wait()
    for reduced in functional.all_reduce_coalesced([ones, torch.ones(4)], "max", group):
        reduced.wait()
    functional.all_to_all_single(ones, [1, 1], [2, 0], group).wait()
    assert told(heard) == [
        ("all_reduce(sum)", "f32[6]"),
        ("all_reduce(sum)", "f32[6]"),
        ("all_gather", "f32[6]"),
        ("reduce_scatter(sum)", "f32[6]"),
        ("broadcast(0)", "f32[6]"),
        ("all_reduce(max)", "f32[10]"),
        ("all_to_all", "f32 tensors"),
    ]
    assert heard[-1].splits == ((2, 0), (1, 1)) and {each.group for each in heard} == {"0"}


def test_those_of_dtensors_are_heard_of(heard: list[CalledCollective]) -> None:
    rows = distribute_tensor(torch.ones(4, 3), init_device_mesh("cpu", (2,)), [Shard(0)])
    heard.clear()
    rows.full_tensor()
    rows.sum(0).full_tensor()
    assert told(heard) == [("all_gather", "f32[6]"), ("all_reduce(sum)", "f32[3]")]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_those_of_graphs_are_not(heard: list[CalledCollective], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: functional.all_reduce(x, "sum", dist.group.WORLD) + 1, backend=backend)
    compiled(torch.ones(3))
    assert heard == []


def test_an_operator_keeps_its_hash_and_is_restored(heard: list[CalledCollective]) -> None:
    wrapped, names = OPERATOR._op, {OPERATOR: "all_reduce"}
    other = CollectiveEvents(
        lambda called: None, lambda group: None, lambda exchange: None, HookFailures(lambda trace: None)
    )
    assert OPERATOR._op is wrapped and names[OPERATOR] == "all_reduce" and hash(OPERATOR) == hash(wrapped.__wrapped__)
    other.remove()
    assert OPERATOR._op is wrapped


def test_nothing_is_wrapped_without_subscribers() -> None:
    hashed = hash(OPERATOR)
    events = CollectiveEvents(
        lambda called: None, lambda group: None, lambda exchange: None, HookFailures(lambda trace: None)
    )
    assert hasattr(OPERATOR._op, "__wrapped__") and hash(OPERATOR) == hashed
    events.remove()
    assert not hasattr(OPERATOR._op, "__wrapped__") and hash(OPERATOR) == hashed
