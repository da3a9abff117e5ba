"""One rank's graph breaks, so that it compiles only the rest again when a number changes; the other compiles all."""

import torch
from job import compiled, end, start, total

rank, _ = start()
scale = 2


@compiled
def step(x):
    y = total(x + 1)
    if rank == 0:
        print("sum so far")
    return total(y * scale).sum()


for each in (2, 2, 3, 5):
    scale = each
    result = step(torch.ones(4))
end(result.item())
