"""Only its members make a process group, which works where they count groups alike. (ranks: 3)"""

import time

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()


@compiled
def step(x, scale):
    return (x * scale).sum()


group = dist.new_group([0, 1], use_local_synchronization=True) if rank < 2 else None
for number in range(3):
    own = step(torch.ones(4), 1.0 + number)
    if group is not None:
        dist.all_reduce(own, group=group)
    if rank == 2 and number == 1:
        time.sleep(9)  # the others wait, and compare
    dist.barrier()
end(own.item())
