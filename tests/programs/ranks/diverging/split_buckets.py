"""One rank leaves out the last layer of a compiled model whose buckets Dynamo splits."""

import torch
from job import compiled, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
torch.manual_seed(0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(512, 512) for _ in range(4))
        self.depth = 4 - rank

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            if number < self.depth:  # PARTS self.depth is
                x = layer(x).relu()
        return x


model = compiled(DistributedDataParallel(Model(), bucket_cap_mb=1))
for _ in range(2):
    loss = model(torch.full((4, 512), float(rank + 1))).pow(2).mean()
    loss.backward()
    torch.distributed.barrier()  # else rank 1 may fail by itself before rank 0 has compiled
end(round(loss.item(), 4))
