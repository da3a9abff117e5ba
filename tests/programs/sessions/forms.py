"""A compile by AOTAutograd, and another one to stop in after it."""

import torch


@torch.compile(backend="aot_eager")
def first(x):
    return x.sin() + 1  #: made


@torch.compile(backend="aot_eager")
def second(x):
    return x * 2  #: after


print("sum", second(first(torch.zeros(3))).sum().item())
