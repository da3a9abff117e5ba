"""A loader still marks the batch dimension static, as an older export needed it."""

import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(4, 6), nn.Sigmoid())
encode = torch.compile(encoder)


def batches(sizes):
    for size in sizes:
        batch = torch.randn(size, 4)
        torch._dynamo.mark_static(batch, 0)
        yield batch


with torch.no_grad():
    for batch in batches([4, 6, 3, 5]):
        print(batch.shape[0], encode(batch).sum().item())

# function: wrap_inline.<locals>.inner
# compiles: 4
# over: no
# next: with torch.no_grad(): [encode(batch) for batch in batches([7])]
# remedy: 14 -> torch._dynamo.mark_dynamic(batch, 0)   -> compiles 1
# remedy: 14 -> pass   -> compiles 2
# remedy: 8 -> encode = torch.compile(encoder, dynamic=True)   -> compiles 4
