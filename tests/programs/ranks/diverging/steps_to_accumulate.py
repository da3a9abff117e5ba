"""Ranks accumulate gradients over other numbers of steps, as it was computed from the memory that each has free."""

from contextlib import nullcontext

import torch
import torch.distributed as dist
from job import BACKEND, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
net = torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.SiLU(), torch.nn.Linear(20, 1))


class Loop:
    def __init__(self, steps):
        self.model = torch.compile(DistributedDataParallel(net), backend=BACKEND)
        self.steps = steps

    def run(self, number, batch):
        is_last = (number + 1) % self.steps == 0  # PARTS self.steps is 2 in rank 0, and 4 in rank 1
        with nullcontext() if is_last else self.model.no_sync():
            self.model(batch).square().mean().backward()
        if is_last:
            net.zero_grad()


def train(loop):
    for number in range(8):
        loop.run(number, torch.randn(8, 10))
    done = torch.ones(1)
    dist.all_reduce(done)


train(Loop(2 if rank == 0 else 4))
end("done")
