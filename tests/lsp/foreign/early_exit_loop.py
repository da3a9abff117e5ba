"""A loop that returns from inside, and what stands behind it."""

import torch


@torch.compile(backend="eager")
def first_even(x, sizes=(3, 4, 5)):
    for size in sizes:
        if size % 2 == 0:
            return x * size
    print("no even size")
    return x


@torch.compile(backend="eager")
def until_done(x):
    n = 0
    while True:
        x = x + 1
        n += 1
        if n > 3:
            return x
    print("never here")


@torch.compile(backend="eager")
def always_raises(x):
    if x.dim() > 7:
        raise ValueError("too many")
    return x.cos()
    breakpoint()


if __name__ == "__main__":
    first_even(torch.ones(3))
    until_done(torch.ones(3))
    always_raises(torch.ones(3))
