"""One rank has a function compiled whose collective the other calls uncompiled, and others of other sizes follow."""

import time

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, _ = start()


def step(x):
    return total(x * 2) + 1


run = compiled(step) if rank == 0 else step
compiled(lambda x: x + 1)(torch.ones(2))
sums = torch.zeros(3)
for size in range(2, 6):
    result = run(torch.ones(4))
    sums = torch.ones(size)
    dist.all_reduce(sums)
    time.sleep(0.1)
time.sleep(7)  # each rank compares what it has called
end(result.sum().item() + sums.sum().item())
