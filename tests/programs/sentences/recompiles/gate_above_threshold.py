"""A gate whose threshold is lowered from epoch to epoch, and asked for by Python."""

import torch


@torch.compile
def gated(inputs, weight, threshold):
    hidden = inputs @ weight
    if threshold > 0.5:
        hidden = hidden.relu() * threshold
    return hidden.sum()


torch.manual_seed(0)
inputs, weight = torch.randn(4, 8), torch.randn(8, 8)
for threshold in (0.9, 0.8, 0.7, 0.6):
    print(threshold, round(gated(inputs, weight, threshold).item(), 3))

# function: gated
# compiles: 2
# over: yes
# next: gated(inputs, weight, 0.55)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
