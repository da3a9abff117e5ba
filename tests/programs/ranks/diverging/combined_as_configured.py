"""A head combines its ranks' logits as a member of an enumeration says, which the launcher has set in each."""

import enum

import torch
from job import compiled, end, gathered, start, total

rank, world = start()


class Combine(enum.Enum):
    REDUCE = "reduce"
    GATHER = "gather"


class Head(torch.nn.Module):
    def __init__(self, combine):
        super().__init__()
        self.combine = combine

    def forward(self, logits):
        if self.combine is Combine.GATHER:  # PARTS self.combine is Combine.
            return gathered(logits).reshape(world, *logits.shape).mean(0)
        return total(logits) / world


head = compiled(Head(Combine.REDUCE if rank == 0 else Combine.GATHER))
with torch.no_grad():
    for _ in range(2):
        out = head(torch.ones(4, 8))
end(out.sum().item())
