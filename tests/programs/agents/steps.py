import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        return x * self.steps


model = torch.compile(Counter(), backend="eager")
for _ in range(6):
    out = model(torch.ones(3))
print(out)
