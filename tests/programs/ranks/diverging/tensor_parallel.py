"""One rank leaves out a block of a tensor-parallel model."""

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


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.is_short = rank == 1

    def forward(self, x):
        x = self.blocks[0](x)
        if not self.is_short:  # PARTS self.is_short
            x = self.blocks[1](x)
        return x


model = Model()
for block in model.blocks:
    parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
model = compiled(model)
for step in range(3):
    loss = model(torch.ones(4 + 2 * step, 16)).pow(2).mean()
    loss.backward()
end(round(loss.item(), 4))
