"""A decay is applied when the step is one of the milestones."""

import torch

MILESTONES = (3, 5)


@torch.compile
def anneal(weights, gradient, step, rate):
    factor = 0.1 if step in MILESTONES else 1.0
    return weights - rate * factor * gradient


torch.manual_seed(0)
weights = torch.randn(4)
for step in range(2, 8):
    weights = anneal(weights, weights.sin(), step, 0.5)
print(weights.sum().item())

# function: anneal
# compiles: 3
# over: yes
# next: anneal(weights, weights.sin(), 11, 0.5)
# remedy: 17 -> weights = anneal(weights, weights.sin(), torch.tensor(step), 0.5) && 10 -> factor = torch.where(torch.isin(step, torch.tensor(MILESTONES)), 0.1, 1.0)   -> compiles 1
# remedy: 8 -> @torch.compile(dynamic=True)   -> compiles 2
# remedy: 17 -> weights = anneal(weights, weights.sin(), step in MILESTONES, 0.5) && 10 -> factor = 0.1 if step else 1.0   -> compiles 2
