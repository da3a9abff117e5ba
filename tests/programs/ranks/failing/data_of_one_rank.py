"""One rank fails because of its data; the other waits for it, and fails when its connection is closed."""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, _ = start()


@compiled
def step(x):
    return total(x * 2).sum()


for number in range(4):
    if rank == 1 and number == 2:
        raise ValueError("bad data")
    step(torch.full((4,), float(number)))
    count = torch.ones(3)
    dist.all_reduce(count)
end("done")
