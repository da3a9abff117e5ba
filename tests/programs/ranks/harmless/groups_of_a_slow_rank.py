"""Ranks wait in groups of their own for one that computes for longer than ranks wait before they compare. (ranks: 4)"""

import time

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
halves = [dist.new_group([0, 1]), dist.new_group([2, 3])]
net = torch.nn.Linear(6, 2)


@compiled
def loss_of(x):
    return net(x).square().mean()


for step in range(3):
    loss = loss_of(torch.ones(4, 6)).detach()
    if rank == 3 and step == 1:
        began = time.monotonic()
        while time.monotonic() - began < 8:
            torch.ones(64, 64) @ torch.ones(64, 64)
    dist.all_reduce(loss, group=halves[rank // 2])
    dist.all_reduce(loss)
end(round(loss.item(), 3))
