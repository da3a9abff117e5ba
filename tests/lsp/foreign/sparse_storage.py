"""Tensor methods that need data."""

import torch


@torch.compile(backend="eager")
def a(x):
    s = x.to_sparse()
    return s.to_dense() + 1


@torch.compile(backend="eager")
def b(x):
    y = x.clone()
    y.resize_(4)
    return y


@torch.compile(backend="eager")
def c(x):
    y = x.clone().apply_(lambda v: v + 1)
    z = x.storage()
    return y + len(z)


@torch.compile(backend="eager")
def d(x):
    if x.is_inference():
        return x
    if x.is_nonzero():
        return x + 1
    return x - 1


if __name__ == "__main__":
    a(torch.ones(3))
    b(torch.ones(3))
    c(torch.ones(3))
    d(torch.ones(1))
