"""Two groups of two; one rank of each takes another mesh dimension."""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

# (ranks: 4)
rank, _ = start()
mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = mesh["dp"].get_group(), mesh["tp"].get_group()
order = [tp, dp] if rank == 3 else [dp, tp]


@compiled
def step(x):
    y = x * 2
    for group in order:
        y = total(y, group=group)  # PARTS before
    return y.sum()


for _ in range(3):
    result = step(torch.ones(4))
end(result.item())
