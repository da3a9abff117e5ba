"""One rank computes something more for its log, and reduces nothing more."""

import torch
from job import compiled, end, start, total

rank, _ = start()


@compiled
def step(x, logs):
    norm = x.norm() if logs else None
    y = total(x * 2)
    return y.sum(), norm


for _ in range(2):
    result, _ = step(torch.ones(4), rank == 0)
end(result.item())
