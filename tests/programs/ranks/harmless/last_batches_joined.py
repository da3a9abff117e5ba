"""One rank has two batches less, and joins: DistributedDataParallel calls the others' collectives for it."""

import torch
from job import BACKEND, end, start
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
replica = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)))
model = torch.compile(replica, backend=BACKEND)

with Join([replica]):
    for batch in [torch.randn(4, 8) for _ in range(4 - 2 * rank)]:
        model(batch).pow(2).mean().backward()
end("done")
