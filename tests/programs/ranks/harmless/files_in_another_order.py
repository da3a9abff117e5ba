"""Each rank counts in the same files, in an order of its own; what they add up follows from no file."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()
files = ["a.txt", "b.txt", "c.txt"] if rank == 0 else ["c.txt", "a.txt", "b.txt"]


@compiled
def count(x):
    return x.square().sum()


def add_up(file):
    found = count(torch.ones(ord(file[0]) - 90))
    dist.all_reduce(found)
    return found


total = 0
for file in files:
    total += add_up(file)
    for part in (f"{rank}/{file}", "rest"):
        seen = torch.ones(1) * len(part)
        dist.all_reduce(seen)
end(total.item())
