import math

import torch


@torch.compile(backend="eager")
def radius(x):
    r = math.sqrt(x.square().sum().item())
    return x / r


print(radius(torch.tensor([3.0, 4.0])))
