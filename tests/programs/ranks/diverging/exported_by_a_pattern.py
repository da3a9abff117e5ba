"""Each rank gathers the parameters whose names match a pattern, which is another one in each."""

import re

import torch
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, world = start()


class Exporter:
    def __init__(self, pattern):
        self.pattern = re.compile(pattern)

    def keeps(self, name):
        return self.pattern.search(name) is not None

    def exported(self, model):
        return {
            name: p.detach().full_tensor()
            for name, p in model.named_parameters()
            if self.keeps(name)  # PARTS self.pattern is re.compile('weight|bias') in rank 0, and re.compile('weight')
        }


@compiled
def length(w):
    return (w * w).sum().sqrt()


model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 8))
fully_shard(model, mesh=init_device_mesh("cpu", (world,)))
found = Exporter("weight|bias" if rank == 0 else "weight").exported(model)
end(sum(length(each).item() for each in found.values()))
