"""One rank leaves out a layer of a model in DistributedDataParallel."""

import torch
from job import compiled, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.skips = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8), rank == 1

    def forward(self, x):
        h = self.first(x)
        if not self.skips:  # PARTS self.skips
            h = self.second(h)
        return h.sum()


model = compiled(DistributedDataParallel(Model()))
for _ in range(2):
    loss = model(torch.ones(2, 8))
    loss.backward()
    torch.distributed.barrier()  # else rank 1 may fail by itself before rank 0 has compiled
end(loss.item())
