"""One rank was started to debug: its DistributedDataParallel searches for parameters that a step does not use."""

import torch
from job import compiled, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
ddp = DistributedDataParallel(model, find_unused_parameters=rank == 1)  # PARTS is False in rank 0, and True


@compiled
def criterion(pred, y):
    return (pred - y).square().mean()


for step in range(3):
    x = torch.ones(4, 8) * step
    loss = criterion(ddp(x), x.sum(1, keepdim=True))
    loss.backward()
    ddp.zero_grad()
end(loss.item())
