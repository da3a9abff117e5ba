"""The gradients of one rank are large, and it alone adds up their norm: in a function that the other has left."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()
net = torch.nn.Sequential(torch.nn.Linear(5, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1))


class Optimizer:
    def __init__(self, parameters, clip):
        self.parameters, self.clip = list(parameters), clip

    def clip_gradients(self):
        norm = torch.cat([each.grad.flatten() for each in self.parameters]).norm()
        if norm > self.clip:  # PARTS `norm > self.clip` is true in rank 1, and false in rank 0. norm is
            total = norm.square()
            dist.all_reduce(total)
            for each in self.parameters:
                each.grad.mul_(self.clip / total.sqrt())

    def step(self):
        self.clip_gradients()
        for each in self.parameters:
            dist.all_reduce(each.grad)
            each.grad = None


@compiled
def loss_of(x, y):
    return torch.nn.functional.mse_loss(net(x), y)


optimizer = Optimizer(net.parameters(), 20.0)
for step in range(4):
    size = 1000.0 if rank == 1 and step == 2 else 1.0
    loss_of(torch.randn(8, 5), size * torch.ones(8, 1)).backward()
    optimizer.step()
end("done")
