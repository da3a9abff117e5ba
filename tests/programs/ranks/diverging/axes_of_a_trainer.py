"""A trainer reduces over the axes of a mesh, whose names its settings give in another order in one rank."""

# (ranks: 4)
import torch
import torch.distributed as dist
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh

rank, _ = start()
model = compiled(torch.nn.Linear(8, 8))


class Trainer:
    def __init__(self, names):
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=names)
        self.replicas, self.parts = mesh.get_group("replicas"), mesh.get_group("parts")

    def loss(self, x):
        y = model(x)
        dist.all_reduce(y.detach(), group=self.parts)
        return y.square().mean()

    def synchronize(self):
        for each in model.parameters():
            dist.all_reduce(each.grad, group=self.replicas)  # PARTS self.replicas is the process group of ranks


trainer = Trainer(("replicas", "parts") if rank != 3 else ("parts", "replicas"))
for _ in range(3):
    trainer.loss(torch.randn(4, 8)).backward()
    trainer.synchronize()
end("done")
