"""Compiles in a process of its own, whose parent does not import it."""

import torch


@torch.compile(backend="eager")
def compiled(x):
    return x + 1  #: compiled


print("child", compiled(torch.ones(3)).sum().item())
