"""A metric is summed in one rank, and its largest value is taken in the other."""

import torch
import torch.distributed as dist
from job import compiled, end, start
from torch.distributed._functional_collectives import all_reduce

rank, _ = start()


class Accuracy(torch.nn.Module):
    def __init__(self, reduction):
        super().__init__()
        self.reduction = reduction

    def forward(self, scores, labels):
        correct = (scores.argmax(-1) == labels).float()
        stats = torch.stack([correct.sum(), torch.ones_like(correct).sum()])
        stats = all_reduce(stats, self.reduction, dist.group.WORLD)  # PARTS self.reduction is
        return stats[0] / stats[1]


metric = compiled(Accuracy("sum" if rank == 0 else "max"))
for _ in range(2):
    result = metric(torch.ones(8, 4), torch.zeros(8, dtype=torch.long))
end(result.item())
