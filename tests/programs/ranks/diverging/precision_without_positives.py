"""A metric that is not defined in one rank: its handler returns before the ranks reduce it."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()


@compiled
def predicted(x):
    return (x.sum(-1) > 0).long()


def precision(hits, misses):
    return hits / (hits + misses)


def evaluated(batches):
    hits = misses = 0
    for x, y in batches:
        found = predicted(x)
        hits += int((found * y).sum())
        misses += int((found * (1 - y)).sum())
    try:
        score = precision(hits, misses)
    except ZeroDivisionError:  # PARTS `except ZeroDivisionError` has run in rank 1, and not in rank 0
        return float("nan")
    shared = torch.tensor([score])
    dist.all_reduce(shared)
    return shared.item() / world


sign = 1.0 if rank == 0 else -1.0
end(evaluated([(sign * torch.ones(4, 4), torch.tensor([1, 0, 1, 1]))] * 3))
