"""FSDP2 frees the parameters of blocks after the forward in the rank with less memory only, and gathers them again."""

import torch
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, size = start()
memory_of_hosts = {0: 24, 1: 80}


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner = torch.nn.LayerNorm(16), torch.nn.Linear(16, 16)

    def forward(self, x):
        return x + self.inner(self.norm(x)).relu()


def sharded(model, gigabytes):
    for block in model:
        block.forward = compiled(block.forward)
        fully_shard(block, mesh=mesh, reshard_after_forward=gigabytes < 48)
    return fully_shard(model, mesh=mesh)


mesh = init_device_mesh("cpu", (size,))
model = sharded(torch.nn.Sequential(*(Block() for _ in range(3))), memory_of_hosts[rank])
for _ in range(2):
    model(torch.randn(4, 16)).square().mean().backward()  # PARTS reshard_after_forward of the module of 2.norm.weight
end("done")
