"""Ranks take turns in which of them writes: both branches reduce the same number, at lines of their own."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
net = torch.nn.Linear(6, 2)
written = []


@compiled
def loss_of(x):
    return net(x).square().mean()


for step in range(4):
    loss = loss_of(torch.ones(4, 6)).detach()
    if step % world == rank:
        dist.all_reduce(loss)
        written.append(loss.item())
    else:
        dist.all_reduce(loss)
end(len(written))
