"""Compiled code with a replayed change and a graph break, called again after its compile."""

import torch


@torch.compile(backend="eager")
def broken(x: torch.Tensor, kept: list[torch.Tensor]) -> torch.Tensor:
    y = x.sin()
    kept.append(y)
    print("breaks")
    return y * 2


@torch.compile(backend="eager")
def last(x: torch.Tensor) -> torch.Tensor:
    return x + 1  #: between


one = torch.ones(3)
broken(one, [])
last(one)
for number in range(3):
    broken(one, [])
    print(number)  #: ran
