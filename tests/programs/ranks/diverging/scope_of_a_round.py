"""Clients average over all ranks after three updates, else in their half; one has skipped a small batch. (ranks: 4)"""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
halves = [dist.new_group([0, 1]), dist.new_group([2, 3])]
net = torch.nn.Linear(6, 2)


@compiled
def loss_of(x):
    return net(x).square().mean()


class Client:
    def __init__(self, sizes):
        self.sizes, self.updates = sizes, 0

    def round(self):
        for size in self.sizes:
            if size >= 3:
                loss_of(torch.ones(size, 6)).backward()
                self.updates += 1


def scope(client):
    return dist.group.WORLD if client.updates % 3 == 0 else halves[rank // 2]


@torch.no_grad()
def average(client):
    group = scope(client)
    for parameter in net.parameters():
        dist.all_reduce(parameter, group=group)  # PARTS group is the process group of ranks 0-3 in rank
        parameter /= group.size()


client = Client([4, 8, 2 if rank == 3 else 5])
for _ in range(3):
    client.round()
    average(client)
end("done")
