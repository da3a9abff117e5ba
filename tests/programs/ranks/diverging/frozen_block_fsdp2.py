"""One rank has frozen a block, whose gradients it does not reduce."""

import torch
from job import BACKEND, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, world = start()
mesh = init_device_mesh("cpu", (world,))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(2))
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x, scale):
        for block in self.blocks:
            x = block(x).relu()
        return self.head(x) * scale


net = Net()
if rank == 1:
    net.blocks[1].requires_grad_(False)
for part in (*net.blocks, net.head, net):
    fully_shard(part, mesh=mesh)
model = torch.compile(net, backend=BACKEND)
for _ in range(2):
    model(torch.randn(4, 8), 0.5).square().mean().backward()  # PARTS blocks.1.weight.requires_grad is False in rank 1
end("done")
