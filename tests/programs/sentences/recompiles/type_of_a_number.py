"""A loss whose last argument is an integer in some calls and a float in others, while the batches become longer."""

import torch


@torch.compile
def loss(x, y, beta, eps):
    d = (x - y).abs()
    return torch.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta).mean() + eps


for i in range(6):
    print(loss(torch.ones(8 + i, 4), torch.zeros(8 + i, 4), 0.1 * (i + 1), 1e-3 if i % 2 else 1).item())

# function: loss
# compiles: 3
# over: yes
# next: loss(torch.ones(20, 4), torch.zeros(20, 4), 0.9, 2)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
# remedy: 13 -> print(loss(torch.ones(8 + i, 4), torch.zeros(8 + i, 4), 0.1 * (i + 1), float(1e-3 if i % 2 else 1)).item())   -> compiles 2
