"""DTensors of which the ranks have uneven parts are gathered."""

import torch
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

rank, size = start()
mesh = init_device_mesh("cpu", (size,))


@compiled(backend="aot_eager")  # with Inductor of torch 2.13 the ranks gather other sizes here, and gloo ends them
def step(x):
    return x.sin().redistribute(placements=[Replicate()]).cos().to_local()


for rows in (5, 7, 9):
    result = step(distribute_tensor(torch.ones(rows, 8), mesh, [Shard(0)])).sum()
end(round(result.item(), 4))
