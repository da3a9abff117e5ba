"""What a rank does depends on how many rows its part of the batch has."""

import torch
from job import compiled, end, start, total

rank, _ = start()


@compiled
def step(x):
    y = x.relu()
    if y.shape[0] > 7:  # PARTS f32[8, 3]
        y = total(y)
    return y.sum()


end(step(torch.ones(8 - 2 * rank, 3)).item())
