"""One rank keeps the statistics of its batch norms to itself: other ranks broadcast them with the parameters."""

import torch
from job import compiled, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
frozen = rank == 1
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
ddp = DistributedDataParallel(net, broadcast_buffers=not frozen)  # PARTS frozen is False in rank 0, and True in rank 1


@compiled
def step(x):
    return ddp(x).square().mean()


for number in range(3):
    loss = step(torch.ones(4, 8) * number)
    loss.backward()
end(loss.item())
