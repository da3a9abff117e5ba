"""The last batch of one rank is shorter, and its losses are summed up uncompiled: gloo ends a process at once."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()


@compiled
def loss(x):
    return (x * 2).sum(1)


def average(losses):
    dist.all_reduce(losses)  # PARTS f32[5]
    return losses / 2


for number in range(4):
    rows = 8 if rank == 0 or number < 3 else 5
    average(loss(torch.randn(rows, 4)))
end("done")
