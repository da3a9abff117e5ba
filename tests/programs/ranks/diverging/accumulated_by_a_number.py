"""Gradients are accumulated over another number of steps in each rank, which a variable of the script tells."""

from contextlib import nullcontext

import torch
from job import BACKEND, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
accumulate = 2 if rank == 0 else 4
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)))
net = torch.compile(model, backend=BACKEND)
for step in range(4):
    is_last = (step + 1) % accumulate == 0  # PARTS accumulate is 2 in rank 0, and 4 in rank 1
    with nullcontext() if is_last else model.no_sync():
        loss = net(torch.ones(8, 10)).square().mean()
        loss.backward()
    if is_last:
        model.zero_grad()
end(loss.item())
