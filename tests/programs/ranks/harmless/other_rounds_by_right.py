"""Each rank goes through other numbers of a loop, and a variable of the script differs in each."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, size = start()
verbose = rank == 0
shards = [*range(8)][rank::size]


@compiled
def loss_of(x, scale):
    return (x * scale).square().mean()


for number in range(rank, 8, size):
    loss = loss_of(torch.ones(4 + number), number)
    if verbose and number % 4 == 0:
        print(f"shard {number} of {len(shards)}")
    dist.all_reduce(loss)
for step in range(3 + rank):
    loss = loss_of(torch.ones(4), step)
    if step % 2 == 0 and step < 3:
        dist.all_reduce(loss)
end("done")
