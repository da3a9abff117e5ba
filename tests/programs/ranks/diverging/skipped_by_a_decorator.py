"""A decorator notes batches that fail: one rank comes to its last average by the same compiled function. (ranks: 3)"""

import functools

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()


def tolerant(function):
    @functools.wraps(function)
    def wrapper(self, *args):
        try:
            return function(self, *args)
        except ValueError as error:  # PARTS self.failed is of length 0 in rank 0, and of length 1 in rank 1
            self.failed.append(str(error))
            return None

    return wrapper


@compiled
def average(x):
    x = x.clone()
    dist.all_reduce(x)
    return x / world


class Trainer:
    def __init__(self):
        self.failed = []
        self.net = torch.nn.Linear(6, 3)

    @tolerant
    def step(self, batch):
        if not len(batch):
            raise ValueError("an empty batch")
        loss = self.net(batch).square().mean()
        self.net.zero_grad()
        loss.backward()
        for parameter in self.net.parameters():
            parameter.grad = average(parameter.grad)
        return loss.detach()

    def fit(self, batches):
        losses = [self.step(batch) for batch in batches]
        return average(torch.stack([each for each in losses if each is not None]).mean().reshape(1))


trainer = Trainer()
batches = [torch.ones(0 if rank == 1 and number == 3 else 4, 6) for number in range(5)]
end(trainer.fit(batches).item())
