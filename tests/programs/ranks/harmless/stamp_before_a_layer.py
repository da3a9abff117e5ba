"""One rank breaks its graph between two layers of a module that DistributedDataParallel reduces."""

import time

import torch
from job import compiled, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()


class Classifier(torch.nn.Module):
    def __init__(self, is_verbose):
        super().__init__()
        self.first = torch.nn.Linear(6, 8)
        self.second = torch.nn.Linear(8, 3)
        self.is_verbose = is_verbose

    def forward(self, x, scale):
        hidden = self.first(x).relu() * scale
        if self.is_verbose:
            torch._dynamo.graph_break()
            self.stamp = time.time()
        return self.second(hidden)


model = compiled(DistributedDataParallel(Classifier(rank == 0)))
for step in range(4):
    loss = model(torch.ones(8 - step * rank, 6), 0.5).square().mean()
    loss.backward()
end(loss.item())
