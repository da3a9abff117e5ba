"""In the second of two pairs one rank calls a collective of its pair more than the other. (ranks: 4)"""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, _ = start()
pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
pair = pairs[rank // 2]


@compiled
def step(x, extra):
    y = total(x, group=pair)
    if extra:  # PARTS extra
        y = total(y.cos(), group=pair)
    return y.sum()


end(step(torch.ones(4), rank == 3).item())
