"""The collectives that torch's flight recorder keeps, of graphs and of plain Python, are read by process group."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist
from dynascope.agent.internals.flight_recorder import (
    RecordedCollective,
    collectives_in_progress,
    recorded_collectives,
)


@pytest.fixture
def group() -> Iterator[str]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield dist.group.WORLD.group_name
    finally:
        dist.destroy_process_group()


def test_collectives_are_read_with_what_they_take(group: str) -> None:
    @torch.compile(backend="aot_eager")
    def summed(x: torch.Tensor) -> torch.Tensor:
        return dist._functional_collectives.all_reduce(x, "sum", group) + 1

    before = collectives_in_progress()
    x = torch.ones(2, 3)
    dist.all_reduce(x)
    summed(x)
    dist.all_gather([torch.empty(4, dtype=torch.int64)], torch.ones(4, dtype=torch.int64))
    dist._functional_collectives.all_gather_tensor(x, 0, group).sum()
    dist.broadcast(torch.ones(4, dtype=torch.bool), 0)
    dist.barrier()
    here = threading.get_ident()
    found = recorded_collectives(100)[group]
    assert found.collectives == [
        RecordedCollective(1, "all_reduce", "f32[6]", here),
        RecordedCollective(2, "all_reduce", "f32[6]", here),
        RecordedCollective(3, "all_gather", "", here),
        RecordedCollective(4, "all_gather", "", here),
        RecordedCollective(5, "broadcast", "b8[4]", here),
        RecordedCollective(6, "barrier", "", here),
    ]
    assert collectives_in_progress() != before
    assert recorded_collectives(2)[group].collectives == found.collectives[-2:]
