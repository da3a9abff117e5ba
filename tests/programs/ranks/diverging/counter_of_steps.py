"""A counter decides whether to reduce; one rank is a step further."""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, _ = start()


class Mean:
    def __init__(self):
        self.t = 1 if rank == 1 else 0

    @compiled(dynamic=False)
    def update(self, x, w):
        y = x * w
        if self.t % 4 == 3:  # PARTS self.t
            y = total(y)
        return y.sum()


mean = Mean()
for _ in range(6):
    mean.t += 1
    result = mean.update(torch.ones(4), torch.ones(4))
    dist.barrier()
end(result.item())
