"""Optional terms of a loss are given by keyword, where a call has them."""

import torch


@torch.compile(backend="eager")
def loss(prediction, target, **terms):
    total = (prediction - target).square().mean()
    for name in sorted(terms):
        total = total + 0.1 * terms[name].abs().mean()
    return total


torch.manual_seed(0)
prediction, target = torch.randn(2, 5)
weights, hidden = torch.randn(3), torch.randn(4)
for terms in ({}, {"weights": weights}, {"hidden": hidden}, {"weights": weights, "hidden": hidden}):
    print(sorted(terms), loss(prediction, target, **terms).item())

# function: loss
# compiles: 4
# over: no
# next: loss(prediction, target, logits=weights)
# remedy: 18 -> print(sorted(terms), loss(prediction, target, **{"weights": weights * 0, "hidden": hidden * 0, **terms}).item())   -> compiles 1
# remedy: 6 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 4
# remedy: +6 -> torch._dynamo.config.recompile_limit = 64   -> compiles 4
