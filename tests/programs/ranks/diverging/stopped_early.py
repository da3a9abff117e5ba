"""One rank stops early, by a property of an object that counts: the others train on."""

import torch
import torch.distributed as dist
from job import BACKEND, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)))
forward = torch.compile(model, backend=BACKEND)


class Stopping:
    def __init__(self, patience):
        self.patience, self.bad = patience, 0

    def update(self, is_better):
        self.bad = 0 if is_better else self.bad + 1

    @property
    def is_due(self):
        return self.bad >= self.patience


def fit(epochs):
    stopping = Stopping(patience=2)
    for epoch in range(epochs):
        for _ in range(2):
            forward(torch.ones(4, 6)).square().mean().backward()
        stopping.update(is_better=rank == 0 or epoch < 1)
        if stopping.is_due:  # PARTS `stopping.is_due` is true in rank 1, and false in rank 0
            break
    return epoch


fit(6)
dist.barrier()
end("done")
