"""Losses of one size are reduced in the order of a set of texts, which each process has in an order of its own."""

import torch
from job import compiled, end, start, total

rank, _ = start()
NAMES = ("box", "class", "mask") if rank == 0 else ("mask", "box", "class")


@compiled
def losses(x, is_verbose):
    largest = x.amax()
    if is_verbose:
        largest = largest.sin()
    parts = {name: (x * number).square().mean(0) for number, name in enumerate(("box", "class", "mask"))}
    result = torch.zeros(4)
    for name in NAMES:  # PARTS name is
        value = parts[name] * 0.5
        result = result + len(name) * total(value)
    return result, largest


for _ in range(3):
    result, _ = losses(torch.ones(3, 4), rank == 0)
end(result.sum().item())
