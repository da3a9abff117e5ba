"""Tensor methods that need data."""

import torch


@torch.compile(backend="eager")
def a(x):
    s = x.to_sparse()  # breaks
    return s.to_dense() + 1  # breaks


@torch.compile(backend="eager")
def b(x):
    y = x.clone()
    y.resize_(4)  # breaks
    return y


@torch.compile(backend="eager")
def c(x):
    y = x.clone().apply_(lambda v: v + 1)  # breaks
    z = x.storage()  # breaks
    return y + len(z)  # breaks


@torch.compile(backend="eager")
def d(x):
    if x.is_inference():  # breaks
        return x
    if x.is_nonzero():  # breaks
        return x + 1
    return x - 1


if __name__ == "__main__":
    a(torch.ones(3))
    b(torch.ones(3))
    c(torch.ones(3))
    d(torch.ones(1))
