"""Rates of a sweep come from `numpy.linspace`."""

import numpy as np
import torch


@torch.compile
def descend(weights, target, rate):
    for _ in range(2):
        weights = weights - rate * (weights - target)
    return weights


torch.manual_seed(0)
weights, target = torch.randn(4), torch.zeros(4)
for rate in (0, *np.linspace(0.1, 0.4, 4)):
    print(round(float(rate), 2), descend(weights, target, rate).sum().item())

# function: descend
# compiles: 2
# over: yes
# next: descend(weights, target, np.float64(0.77))
# remedy: 17 -> print(round(float(rate), 2), descend(weights, target, torch.tensor(rate, dtype=torch.float32)).sum().item())   -> compiles 1
# remedy: 17 -> print(round(float(rate), 2), descend(weights, target, float(rate)).sum().item())   -> compiles 2
# remedy: 7 -> @torch.compile(dynamic=True)   -> compiles 2
