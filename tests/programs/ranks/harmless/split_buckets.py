"""DistributedDataParallel splits the graph at its buckets (`optimize_ddp`)."""

import torch
from job import compiled, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
torch.manual_seed(0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(512, 512) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


model = compiled(DistributedDataParallel(Model(), bucket_cap_mb=1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.full((4, 512), float(rank + 1))).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
end(round(loss.item(), 4))
