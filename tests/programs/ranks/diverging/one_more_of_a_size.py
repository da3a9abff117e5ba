"""One rank calls one more collective on a tensor of the same size, past a number that every rank has of its own."""

import torch
from job import compiled, end, start, total

rank, _ = start()
settings = {"scale": 1.0 + rank / 2, "clip": 0.5 if rank == 1 else None}


@compiled
def step(x, w):
    y = x * w * settings["scale"]
    if settings["clip"] is not None:  # PARTS settings['clip']
        y = y / (total(y) + settings["clip"])
    return total(y).sum()


for _ in range(3):
    result = step(torch.ones(6), torch.ones(6))
end(result.item())
