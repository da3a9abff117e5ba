"""Ranks meet sequences of other lengths, in another order, and reduce a loss."""

import torch
from job import compiled, end, start, total

rank, _ = start()


@compiled
def step(x):
    return total((x * x).sum())


for length in [(3, 5, 8, 5), (8, 3, 5, 6)][rank]:
    result = step(torch.ones(length, 2))
end(result.item())
