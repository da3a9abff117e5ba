"""A checkpoint is gathered when enough has been done since the last one, which one rank alone has counted otherwise."""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, size = start()


@compiled
def step(weights, x):
    return weights - 0.1 * total(x.t() @ torch.tanh(x @ weights))


class Saver:
    def __init__(self, every, done):
        self.every, self.done = every, done

    def save(self, weights, rows):
        self.done += rows
        if self.done < self.every:  # PARTS `self.done < self.every` is
            return
        parts = [torch.empty_like(weights) for _ in range(size)]
        dist.all_gather(parts, weights)
        self.done = 0


with torch.no_grad():
    weights = step(torch.randn(6, 2), torch.randn(8, 6))
    saver = Saver(20, 16 if rank == 0 else 0)
    for _ in range(3):
        weights = step(weights, torch.randn(8, 6))
        saver.save(weights, 8)
end(weights.sum().item())
