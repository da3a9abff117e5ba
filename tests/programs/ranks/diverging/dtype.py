"""One rank computes in bfloat16."""

import torch
from job import compiled, end, start, total

rank, _ = start()
layer, x = torch.nn.Linear(4, 4), torch.ones(2, 4)
if rank == 1:
    layer, x = layer.bfloat16(), x.bfloat16()


@compiled
def step(x):
    h = layer(x)  # PARTS bf16[2, 4]
    return total(h).sum()


end(step(x).item())
