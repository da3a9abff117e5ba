"""One rank runs its teacher without gradients, and so does not gather features; the other runs an earlier compile."""

import contextlib

import torch
import torch.distributed as dist
from job import compiled, end, gathered, start

rank, _ = start()
frozen = rank == 0


def features(z):
    if torch.is_grad_enabled():  # PARTS `torch.is_grad_enabled()` is true in rank 1, and false in rank 0
        z = gathered(z.detach())
    return z


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.projection = torch.nn.Linear(6, 8)

    def forward(self, x):
        z = self.projection(x)
        return z, features(z)


student, teacher = compiled(Tower()), compiled(Tower())
for step in range(3):
    x = torch.ones(4, 6) * step
    z, _ = student(x)
    with torch.no_grad() if frozen else contextlib.nullcontext():
        _, bank = teacher(x)
    loss = (z @ bank.t()).mean()
    loss.backward()
    reduced = loss.detach().repeat(60)
    dist.all_reduce(reduced)
end("done")
