"""A number of the data decides after some steps, past a graph break: one rank does not reduce."""

import torch
from job import compiled, end, start, total

rank, _ = start()


@compiled
def step(x, w):
    h = x * w
    if not bool(torch.isfinite(h).all()):  # PARTS The result of the call there is
        return h.sum() * 0
    return total(h).sum()


for number in range(4):
    x = torch.ones(4)
    if rank == 1 and number == 2:
        x[0] = float("nan")
    result = step(x, torch.ones(4))
end(result.item())
