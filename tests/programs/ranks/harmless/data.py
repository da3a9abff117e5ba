"""Each rank has other data, and another factor in each step."""

import torch
from job import compiled, end, start, total

rank, _ = start()
generator = torch.Generator().manual_seed(rank + 7)


@compiled
def step(x, factor):
    return total((x * factor).sum())


for _ in range(3):
    result = step(torch.randn(4, 4, generator=generator), float(torch.rand((), generator=generator)))
end(result.item())
