"""Sites of every kind."""

import functools

import torch
from torch import nn

fast = functools.partial(torch.compile, backend="eager")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    @torch.compile(backend="eager", mode="reduce-overhead", fullgraph=False) if False else fast
    def forward(self, x):
        print("forward")  # breaks
        return self.lin(x)

    @staticmethod
    @torch.compile(backend="eager")
    def helper(x):
        print("helper")  # breaks
        return x + 1

    @classmethod
    def make(cls):
        return cls()

    @property
    def width(self):
        print("width")
        return 3


@torch.no_grad()
@torch.compile(backend="eager")
def one(x):
    print("one")  # breaks
    return x


@fast
def two(x):
    print("two")  # breaks
    return x


three = torch.compile(lambda x: print("three") or x + 1, backend="eager")  # breaks
four = torch.compile(functools.partial(lambda x, n: x * n, n=3), backend="eager")


@torch.compile(backend="eager")
def five(m, x):
    return x * Model.make().width


if __name__ == "__main__":
    x = torch.ones(3)
    Model()(x)
    Model.helper(x)
    for f in (one, two, three, four):
        f(x)
