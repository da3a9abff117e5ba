"""A condition on the rows of a tensor, whose other side is compiled with another factor."""

import torch


@torch.compile
def scaled(x, factor):
    y = x * 2 if x.shape[0] > 16 else x + 1
    return y.sum() * factor


for rows, factor in ((4, 2), (8, 2), (32, 3), (12, 4), (40, 5)):
    print(scaled(torch.ones(rows, 3), factor).item())

# function: scaled
# compiles: 4
# over: yes
# next: scaled(torch.ones(24, 3), 6), scaled(torch.ones(6, 3), 7)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
