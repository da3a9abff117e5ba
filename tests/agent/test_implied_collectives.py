"""Operations on DTensors that need the other ranks are collectives, with the group of the mesh's dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from dynascope.agent.internals.graph.collectives import collectives_of, has_hidden_collectives
from dynascope.facts.comparison.ranks import in_backward
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
from torch.testing._internal.distributed.fake_pg import FakeStore

pytestmark = pytest.mark.second_leg


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    """Ranks 2 by 2, of which this process is the first and the others do not exist."""
    dist.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
    try:
        yield init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model"))
    finally:
        dist.destroy_process_group()


def told(mesh: DeviceMesh, function: Callable[[Any], Any], placements: list[Any]) -> list[tuple[str, str, str]]:
    """Return the operation, the tensor and the dimension of the mesh of each collective of a compiled function."""
    torch._dynamo.reset()
    graphs: list[Any] = []

    def backend(graph_module: Any, inputs: object) -> Any:
        graphs.append(graph_module)
        return graph_module

    torch.compile(function, backend=backend, fullgraph=True)(distribute_tensor(torch.ones(5, 8), mesh, placements))
    groups = {mesh.get_group(name).group_name: name for name in ("data", "model")}
    return [(each.operation, each.takes, groups[each.group]) for each in collectives_of(graphs[0], lambda path: True)]


class Summed(torch.autograd.Function):
    """The sum over all ranks, as tensor parallel layers compute it."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return functional.all_reduce(x, "sum", dist.group.WORLD)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return functional.all_reduce(gradient, "max", dist.group.WORLD)


def test_forwards_of_autograd_functions_are_in_their_place(mesh: DeviceMesh) -> None:
    torch._dynamo.reset()
    graphs: list[Any] = []

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        before = functional.all_reduce(x, "min", dist.group.WORLD)
        return before + Summed.apply(x * 2).sum() + functional.all_reduce(y, "max", dist.group.WORLD).sum()

    def backend(graph_module: Any, inputs: object) -> Any:
        graphs.append(graph_module)
        return graph_module

    torch.compile(function, backend=backend)(torch.ones(3, requires_grad=True), torch.ones(4))
    made = collectives_of(graphs[0], lambda path: path == __file__)
    assert [(each.operation, each.takes, each.inputs) for each in made] == [
        ("all_reduce(min)", "f32[3]", ("L_x_",)),
        ("all_reduce(sum)", "f32[3]", ("L_x_",)),
        ("all_reduce(max)", "f32[4]", ("L_y_",)),
        ("all_reduce(max)", "f32[3]", ("L_x_",)),
    ]
    # that of the backward is compared by itself
    assert [each.group == in_backward(made[0].group) for each in made] == [False, False, False, True]
    assert made[1].stack[-1].line == Summed.forward.__code__.co_firstlineno + 2
    assert not has_hidden_collectives(graphs[0])


def test_split_sizes_are_those_of_the_traced_call(mesh: DeviceMesh) -> None:
    torch._dynamo.reset()
    graphs: list[Any] = []

    def function(x: torch.Tensor, taken: list[int]) -> torch.Tensor:
        half = x.size(0) // 4
        return functional.all_to_all_single(x, taken, [half] * 4, dist.group.WORLD)

    def backend(graph_module: Any, inputs: object) -> Any:
        graphs.append(graph_module)
        return graph_module

    torch.compile(function, backend=backend, dynamic=True)(torch.ones(8, 2), [1, 2, 3, 4])
    (made,) = collectives_of(graphs[0], lambda path: path == __file__)
    assert made.splits == ((2, 2, 2, 2), (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("function", "collectives"),
    [
        (lambda x: x.redistribute(placements=[Replicate(), Replicate()]), ["Shard(dim=0) -> Replicate()"]),
        (lambda x: x.redistribute(placements=[Shard(1), Replicate()]), ["Shard(dim=0) -> Shard(dim=1)"]),
        (lambda x: x.redistribute(placements=[Shard(0), Shard(1)]), []),
        (lambda x: x.sin() + 1, []),
        (lambda x: x.t() * 2, []),
        (lambda x: x.sum(0), []),
        (lambda x: x.new_zeros(()), []),
        (lambda x: torch.zeros_like(x.sum(0)), []),
    ],
)
def test_what_redistributes(mesh: DeviceMesh, function: Callable[[Any], Any], collectives: list[str]) -> None:
    expected = [(f"redistribute({each})", "f32[5, 8]", "data") for each in collectives]
    assert told(mesh, function, [Shard(0), Replicate()]) == expected


def test_an_operator_that_needs_the_sum(mesh: DeviceMesh) -> None:
    def function(x: Any) -> Any:
        return x.sum(0).relu()

    for number, name in enumerate(("data", "model")):
        placements: list[Any] = [Replicate(), Replicate()]
        placements[number] = Shard(0)
        (found,) = told(mesh, function, placements)
        assert found == (f"relu({Partial()!r} -> Replicate())", "f32[8]", name)
