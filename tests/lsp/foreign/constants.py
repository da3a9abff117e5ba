"""Tensors that are made from numbers in the compiled function."""

import math

import torch


@torch.compile(backend="eager")
def f(x):
    limit = torch.tensor(3)
    if limit > 2:  # breaks
        x = x + 1
    return x * limit.item()  # breaks


@torch.compile(backend="eager")
def g(x):
    n = torch.tensor(4).item()  # breaks
    info = torch.finfo(x.dtype)
    return x.clamp(info.min, info.max) * n / math.sqrt(x.shape[-1])


@torch.compile(backend="eager")
def h(x):
    lengths = torch.tensor([2, 1])
    return x.split(lengths.tolist())  # breaks


if __name__ == "__main__":
    f(torch.ones(3))
    g(torch.ones(3))
    h(torch.ones(3))
