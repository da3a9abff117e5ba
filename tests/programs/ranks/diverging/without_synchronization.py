"""One rank trains a step under `no_sync`, and the other reduces its gradients: no compile differs."""

import contextlib

import torch
import torch.distributed as dist
from job import BACKEND, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
replica = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)))
model = torch.compile(replica, backend=BACKEND)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for number in range(4):
    with replica.no_sync() if number == 2 and rank == 1 else contextlib.nullcontext():
        model(torch.randn(4, 8)).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    dist.barrier()  # PARTS all_reduce of f32[321]
end("done")
