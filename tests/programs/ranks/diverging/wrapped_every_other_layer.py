"""The ranks wrap other layers by FSDP2."""

import torch
from job import BACKEND, end, start
from torch.distributed import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, size = start()
mesh = init_device_mesh("cpu", (size,))
blocks = [torch.compile(torch.nn.Linear(16, 16), backend=BACKEND) for _ in range(4)]
model = torch.nn.Sequential(*blocks, torch.nn.Linear(16, 4))
every = 1 if rank == 0 else 2
for index, block in enumerate(blocks):
    if index % every == 0:  # PARTS every is 1 in rank 0, and 2 in rank 1
        fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
with torch.no_grad():
    result = model(torch.ones(4, 16)).sum()
end(result.item())
