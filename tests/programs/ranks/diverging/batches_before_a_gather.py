"""In the second epoch one rank has a batch less, and gathers the sums while the other adds up one more loss."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()


@compiled
def step(x):
    return (x * 2).sum()


def train(batches):
    total = torch.zeros(1)
    for batch in batches:  # PARTS batches is of length
        value = step(batch).reshape(1)
        dist.all_reduce(value)
        total += value
    gathered = [torch.zeros(1), torch.zeros(1)]
    dist.all_gather(gathered, total)


for epoch in range(2):
    train([torch.ones(3) * number for number in range(4 if rank == 0 or epoch == 0 else 3)])
end("done")
