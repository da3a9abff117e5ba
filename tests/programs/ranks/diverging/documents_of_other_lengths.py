"""Steps go on until a number of tokens, which ranks with longer documents come to earlier."""

import torch
from job import compiled, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()


class Packer:
    def __init__(self, length):
        self.length, self.tokens = length, 0

    def next(self):
        self.tokens += self.length
        return torch.ones(self.length, 8)


def trained(model, packer, budget):
    while packer.tokens < budget:  # PARTS At the collective before, packer.tokens is 48 in rank 0, and 36 in rank 1
        loss = model(packer.next()).sum()
        loss.backward()
    return loss.item()


net = compiled(torch.nn.Linear(8, 8))
end(trained(DistributedDataParallel(net), Packer(16 if rank == 0 else 12), budget=48))
