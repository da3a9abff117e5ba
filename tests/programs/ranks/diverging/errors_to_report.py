"""Only a rank that has collected errors gathers them: a method of a logger that the other leaves at once."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
net = torch.nn.Linear(5, 3)


class Log:
    def __init__(self):
        self.errors = []

    def flush(self):
        if not len(self.errors):  # PARTS len(self.errors) is 0 in rank 0, and 1 in rank 1
            return []
        found = [None] * world
        dist.all_gather_object(found, self.errors)
        self.errors = []
        return found


@compiled
def loss_of(x, scale):
    return net(x).square().mean() * scale


def train():
    log = Log()
    for step in range(4):
        loss = loss_of(torch.ones(4, 5), 1e6 if rank == 1 and step == 2 else 1.0).detach()
        dist.all_reduce(loss)
        if rank == 1 and step == 2:
            log.errors.append(f"the loss of step {step} is {loss.item()}")
        log.flush()


train()
end("done")
