"""Each rank takes its own rows of a tensor that all have."""

import torch
from job import compiled, end, start, total

rank, _ = start()


@compiled
def step(x):
    return total(x[rank * 2 : rank * 2 + 2].exp()).sum()


end(step(torch.arange(8.0).reshape(4, 2)).item())
