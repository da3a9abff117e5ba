"""Stages of a pipeline wait for one that computes for longer than ranks wait before they compare. (ranks: 3)"""

import time

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
stage = torch.nn.Linear(8, 8)
forward = compiled(stage)


for step in range(3):
    x = torch.ones(4, 8)
    if rank > 0:
        dist.recv(x, src=rank - 1)
    if rank == 1 and step == 1:
        began = time.monotonic()
        while time.monotonic() - began < 8:
            torch.ones(64, 64) @ torch.ones(64, 64)
    y = forward(x.requires_grad_())
    if rank < world - 1:
        dist.send(y.detach(), dst=rank + 1)
        gradient = torch.ones_like(y)
        dist.recv(gradient, src=rank + 1)
        y.backward(gradient)
    else:
        y.sum().backward()
    if rank > 0:
        dist.send(x.grad, dst=rank - 1)
end("done")
