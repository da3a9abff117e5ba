"""Tensor parallel: a column-wise and a row-wise layer of each block, as DTensors."""

import torch
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

rank, size = start()
torch.manual_seed(0)
mesh = init_device_mesh("cpu", (size,))


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(16, 32), torch.nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


model = torch.nn.Sequential(Block(), Block())
for block in model:
    parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
model = compiled(model)
for step in range(3):
    loss = model(torch.ones(4 + 2 * step, 16)).pow(2).mean()
    loss.backward()
end(round(loss.item(), 4))
