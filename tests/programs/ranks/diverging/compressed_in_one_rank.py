"""After some calls one rank communicates its gradients in bfloat16, as its own settings say."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
net = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.SiLU(), torch.nn.Linear(6, 2))


class Communication:
    def __init__(self):
        self.warmup, self.compress = 2, rank == 1


class Reducer:
    def __init__(self, settings):
        self.settings, self.calls = settings, 0

    def reduce(self):
        flat = torch.cat([each.grad.flatten() for each in net.parameters()])
        if self.calls >= self.settings.warmup and self.settings.compress:  # PARTS self.settings.compress is False
            flat = flat.bfloat16()
        dist.all_reduce(flat)
        self.calls += 1


@compiled
def loss_of(x):
    return net(x).square().mean()


reducer = Reducer(Communication())
for _ in range(4):
    loss_of(torch.ones(3, 6)).backward()
    reducer.reduce()
    net.zero_grad()
end("done")
