"""The ranks wrap layers of other sizes by FSDP2, in a function that has returned."""

import torch
from job import compiled, end, start
from torch.distributed import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, size = start()
policy = {"least": 500 if rank == 0 else 5000}
model = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Linear(32, 32), torch.nn.Linear(32, 2))


def shard(model, mesh, least):
    for block in model:
        count = sum(each.numel() for each in block.parameters())
        if count >= least:  # PARTS policy['least'] is 500 in rank 0, and 5000 in rank 1
            fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


@compiled
def loss_of(out):
    return out.square().mean()


shard(model, init_device_mesh("cpu", (size,)), policy["least"])
for _ in range(2):
    loss = loss_of(model(torch.ones(3, 4)))
    loss.backward()
end(loss.item())
