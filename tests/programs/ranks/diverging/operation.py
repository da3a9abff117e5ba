"""Ranks reduce in different ways."""

import torch
from job import compiled, end, start, total

rank, _ = start()
how = "max" if rank == 1 else "sum"


@compiled
def step(x):
    return total(x * 2, how).sum()  # PARTS max


end(step(torch.ones(4)).item())
