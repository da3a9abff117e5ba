"""The ranks part in what follows a graph break."""

import torch
from job import compiled, end, start, total

rank, _ = start()


@compiled
def step(x, clips):
    y = total(x + 1)
    print("sum so far")
    if clips:  # PARTS clips
        y = y / total(y.norm())
    return y.sum()


end(step(torch.ones(4), rank == 0).item())
