"""A function that is compiled for two numbers."""

import torch


def scale(x, by):
    product = x * by  #: scale
    product += 1
    return product


def function(x, n):
    total = x + 1  #: first
    for i in range(n):
        total = scale(total, i + 2)  #: call
    return total.sum()  #: last


if __name__ == "__main__":
    compiled = torch.compile(function, backend="eager", dynamic=False)
    print("two", compiled(torch.ones(3), 2).item())
    print("three", compiled(torch.ones(3), 3).item())
    print("frames", torch._dynamo.utils.counters["frames"]["ok"])
