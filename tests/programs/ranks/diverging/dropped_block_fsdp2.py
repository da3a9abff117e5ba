"""Each rank drops blocks by its own generator; the next block has parameters of the same size."""

import random

import torch
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, size = start()


@compiled
def mixed(x, up, down):
    return torch.nn.functional.gelu(x @ up.T) @ down.T


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 32, bias=False), torch.nn.Linear(32, 8, bias=False)

    def forward(self, x):
        return x + mixed(x, self.up.weight, self.down.weight)


class Encoder(torch.nn.Module):
    def __init__(self, share, generator):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(4))
        self.share, self.generator = share, generator

    def forward(self, x):
        for block in self.blocks:
            if self.training and self.generator.random() < self.share:  # PARTS is true in rank 1, and false in rank 0
                continue
            x = block(x)
        return x


mesh = init_device_mesh("cpu", (size,))
model = Encoder(0.2, random.Random(rank))
for block in model.blocks:
    fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
for _ in range(2):
    model(torch.randn(4, 8)).square().mean().backward()
end("done")
