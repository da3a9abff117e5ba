import sys

import torch

sys.breakpointhook = lambda *args, **kwargs: None


@torch.compile(backend="eager")
def look(x):
    y = x + 1
    breakpoint()
    return y * 2


print(look(torch.ones(2)))
