import warnings

import torch

warnings.simplefilter("always")


@torch.compile(backend="eager")
def old(x):
    warnings.warn("old")
    return x * 2


print(old(torch.ones(2)))
