"""A compiled function leaves its result in parts in one rank, which then gathers it to log it."""

import torch
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

rank, size = start()
mesh = init_device_mesh("cpu", (size,))
layout = {"results": Shard(0) if rank else Replicate()}
weight = distribute_tensor(torch.ones(8, 8), mesh, [Shard(0)])


@compiled
def step(x, scale):
    y = (weight.sin() @ x).redistribute(placements=[Replicate()])
    return (y * scale).redistribute(placements=[layout["results"]])


x = distribute_tensor(torch.ones(8, 4), mesh, [Replicate()])
for _ in range(3):
    result = step(x, 0.5)
    logged = result.full_tensor()  # PARTS result is a DTensor with
end(logged.sum().item())
