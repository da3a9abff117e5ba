from functools import partial

import torch

jit = partial(torch.compile, backend="eager")


@jit()
def f(x):
    return x * x.sum().item()  # breaks


f(torch.ones(3))
