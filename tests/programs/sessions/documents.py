"""Compiled code with an inlined call, a graph break and a resume function."""

import torch


def helper(y: torch.Tensor) -> torch.Tensor:
    return y.relu() + 1  #: inner


class Model(torch.nn.Module):  #: class
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)  #: linear
        z = helper(y)
        torch._dynamo.graph_break()
        return z * 2  #: behind


@torch.compile(backend="eager")
def last(x: torch.Tensor) -> torch.Tensor:
    return x + 1  #: end


print(tuple(last(torch.compile(Model(), backend="eager")(torch.ones(2, 4))).shape))
