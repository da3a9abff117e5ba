"""One rank leaves out a layer, whose parameters FSDP2 gathers in the others: layer dropout without a shared seed."""

import torch
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, size = start()


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(16, 16)

    def forward(self, x):
        return self.inner(x).relu()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer() for _ in range(3))

    def forward(self, x, dropped):
        for number, layer in enumerate(self.layers):
            if number != dropped:
                x = layer(x)  # PARTS layers.1.inner.weight
        return x


mesh = init_device_mesh("cpu", (size,))
model = Model()
for number, layer in enumerate(model.layers):
    model.layers[number] = fully_shard(layer, mesh=mesh)
    layer.forward = compiled(layer.forward)
fully_shard(model, mesh=mesh)
for step in range(3):
    dropped = 1 if (step, rank) == (1, 1) else None
    model(torch.full((4, 16), float(rank + 1)), dropped).pow(2).mean().backward()
end("done")
