"""A rank finds a value in a table from its own file; the others agree on it in a function of a loop."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()


class Temperatures:
    def __init__(self, table):
        self.table = table

    def of(self, length):
        if length not in self.table:  # PARTS self.table is of length 0 in rank 0, and of length 1 in rank 1
            agreed = torch.tensor([length / 32])
            dist.all_reduce(agreed, op=dist.ReduceOp.MAX)
            self.table[length] = agreed.item()
        return self.table[length]


@compiled
def scored(hidden, temperature):
    return (hidden / temperature).softmax(-1).amax()


temperatures = Temperatures({} if rank == 0 else {16: 0.5})
for length in (16, 24, 16):
    result = scored(torch.ones(4, length), temperatures.of(length))
end(result.item())
