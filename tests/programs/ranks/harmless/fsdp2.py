"""`fully_shard` (FSDP2) gathers the parameters of each block around its compiled forward."""

import time

import torch
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, size = start()
torch.manual_seed(0)
mesh = init_device_mesh("cpu", (size,))


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(16, 32), torch.nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


model = torch.nn.Sequential(Block(), Block(), Block())
for block in model:
    fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
model = compiled(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for _ in range(3):
    loss = model(torch.full((4, 16), float(rank + 1))).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
time.sleep(7)  # each rank compares what it has called
end("done")
