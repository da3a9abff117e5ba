"""How often a rank evaluates is in its configuration, which differs; nothing of it is compiled."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()
config = {"every": 2 if rank else 1}


@compiled
def step(x):
    return (x * 2).sum()


def evaluate(value):
    counts = [torch.zeros(1), torch.zeros(1)]
    dist.all_gather(counts, value.reshape(1))
    return sum(counts)


def train():
    for number in range(1, 6):
        value = step(torch.ones(3) * number)
        if number % config["every"] == 0:  # PARTS config['every'] is
            evaluate(value)
        dist.all_reduce(value)


train()
end("done")
