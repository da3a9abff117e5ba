"""A pyramid head merges as many feature maps as the backbone gives."""

import torch


@torch.compile(backend="eager")
def merge(maps, weights, size):
    total = torch.zeros(1, size, size)
    for weight, each in zip(weights, maps, strict=False):
        total = total + weight * torch.nn.functional.interpolate(each[None], size=size)[0]
    return total / len(maps)


torch.manual_seed(0)
pyramid = [torch.rand(1, 2**level, 2**level) for level in range(5)]
weights = torch.tensor([0.1, 0.2, 0.3, 0.2, 0.1])
for levels in (2, 3, 4, 3):
    print(levels, merge(pyramid[:levels], weights, 8).sum().item())

# function: merge
# compiles: 3
# over: no
# next: merge(pyramid, weights, 8)
# best: none
