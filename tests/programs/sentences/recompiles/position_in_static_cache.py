"""A static cache is written at a position that Python counts."""

import torch


@torch.compile
def write(cache, new, position, scale):
    cache[:, position] = new * scale
    return cache.sum(dim=1)


torch.manual_seed(0)
cache = torch.zeros(2, 16, 3)
for position in range(5):
    summed = write(cache, torch.randn(2, 3), position, 0.5)
    print(position, summed.sum().item())

# function: write
# compiles: 5
# over: no
# next: write(cache, torch.randn(2, 3), 7, 0.5)
# remedy: 8 -> cache.index_copy_(1, position, (new * scale).unsqueeze(1)) && 15 -> summed = write(cache, torch.randn(2, 3), torch.tensor([position]), 0.5)   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 5
# remedy: +6 -> torch._dynamo.config.assume_static_by_default = False   -> compiles 5
