"""One rank reduces over all ranks what the others reduce over pairs, past a number of its own."""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

# (ranks: 4)
rank, _ = start()
pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
groups = {"pair": pairs[rank // 2], "world": dist.group.WORLD}


class Mixer(torch.nn.Module):
    def __init__(self, which):
        super().__init__()
        self.which = which
        self.linear = torch.nn.Linear(4, 4)

    def local(self, y):
        group = groups[self.which]  # PARTS self.which
        return total(y, group=group)

    def forward(self, x, bias):
        y = self.local(self.linear(x) + bias)
        return total(y.mean())


mixer = compiled(Mixer("world" if rank == 2 else "pair"))
for _ in range(3):
    result = mixer(torch.ones(2, 4), 0.5 * rank)
end(result.item())
