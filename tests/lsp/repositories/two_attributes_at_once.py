import torch
from torch import nn


class Part(nn.Module):
    def forward(self, x):
        return x * x.sum().item()  # breaks


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Part(), nn.Linear(3, 3)

    def forward(self, x):
        return self.b(self.a(x))


torch.compile(Model(), backend="eager")(torch.ones(3))
