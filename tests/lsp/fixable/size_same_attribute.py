import torch
from torch import nn


class Scorer(nn.Module):
    def forward(self, x):
        return x.sin()


class Neural:
    def __init__(self):
        self.net = torch.compile(Scorer(), backend="eager")

    def run(self, x):
        y = self.net(x)
        return y.shape


class Lengths:
    def __init__(self):
        self.net = len

    def run(self, x):
        y = self.net(x)
        return y


neural, lengths = Neural(), Lengths()
for n in (3, 5, 7):
    print(neural.run(torch.ones(n)), lengths.run("a" * n))
