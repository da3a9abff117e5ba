"""One rank has a batch less, and waits before the evaluation while the other reduces the gradients of one more."""

import torch
import torch.distributed as dist
from job import BACKEND, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
model = torch.compile(DistributedDataParallel(model), backend=BACKEND)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(batch):
    optimizer.zero_grad()
    loss = model(batch).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


for batch in [torch.randn(4, 8) for _ in range(4 - rank)]:  # PARTS has 4 elements in rank 0, and 3 in rank 1
    train(batch)
dist.barrier()
end("done")
