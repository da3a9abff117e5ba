"""A tokens-to-grid step takes the grid's shape as a tuple."""

import torch


@torch.compile
def to_grid(tokens, shape, weight):
    grid = tokens.view(*shape, -1)
    return torch.einsum("hwc,c->hw", grid, weight).softmax(dim=-1)


torch.manual_seed(0)
weight = torch.randn(3)
for shape in [(2, 6), (4, 3), (3, 5), (6, 7)]:
    tokens = torch.randn(shape[0] * shape[1], 3)
    attention = to_grid(tokens, shape, weight)
    print(shape, attention.amax(dim=1).sum().item())

# function: to_grid
# compiles: 3
# over: yes
# next: to_grid(torch.randn(20, 3), (10, 2), weight)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +16 -> torch._dynamo.mark_dynamic(tokens, 0)   -> compiles 2
