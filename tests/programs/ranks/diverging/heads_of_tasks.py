"""Each rank trains the head of another task, and parameters without gradients are left out of the average."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
TASKS = ["parse", "rank", "sum"]


class Shared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = torch.nn.Linear(6, 6)
        self.heads = torch.nn.ModuleDict({each: torch.nn.Linear(6, 2) for each in TASKS})
        self.encode = compiled(self.trunk)

    def forward(self, task, x):
        return self.heads[task](torch.tanh(self.encode(x)))


def average(model):
    for parameter in model.parameters():
        if parameter.grad is None:  # PARTS is the parameter heads.parse.weight in rank 0
            continue
        dist.all_reduce(parameter.grad)
        parameter.grad /= world


model = Shared()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    model(TASKS[(step + rank) % 3], torch.randn(4, 6)).square().mean().backward()
    average(model)
    optimizer.step()
end([round(each.weight.abs().sum().item(), 3) for each in model.heads.values()])
