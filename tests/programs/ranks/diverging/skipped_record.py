"""A record of one rank is broken: the error is caught, and it has averaged one batch less at the end. (ranks: 4)"""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, world = start()
net = torch.nn.Linear(6, 6)


def decoded(record):
    if record["length"] < 1:
        raise ValueError("the record is broken")
    return torch.ones(record["length"], 6)


@compiled
def centre(x):
    return total(net(x).mean(0).detach())


def run():
    centres, skipped = [], 0
    for number in range(5):
        record = {"length": -1 if rank == 2 and number == 1 else 4}
        try:
            centres.append(centre(decoded(record)) / world)
        except ValueError:  # PARTS has run more often in rank 2
            skipped += 1
    mean = torch.stack(centres).mean()
    dist.all_reduce(mean)
    return mean.item()


end(run())
