"""Each rank has another learning rate, a constant of its graph."""

import torch
from job import compiled, end, start, total

rank, _ = start()
rate = 0.1 * (rank + 1)


@compiled
def step(weight, gradient):
    return weight - rate * total(gradient)


end(step(torch.ones(4), torch.ones(4)).sum().item())
