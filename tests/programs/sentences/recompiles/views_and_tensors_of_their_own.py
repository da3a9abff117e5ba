"""A queue gives slices of its buffer while it fills, and a tensor of its own when it is drained."""

import torch


@torch.compile
def drain(items, weights):
    return (torch.relu(items) * weights).sum(dim=0)


torch.manual_seed(0)
buffer, weights = torch.randn(8, 3), torch.rand(3)
for count in (3, 5, 8, 4, 8):
    items = buffer.clone() if count == 8 else buffer[:count]
    print(count, drain(items, weights).sum().item())

# function: drain
# compiles: 2
# over: yes
# next: drain(torch.randn(6, 3), weights)
# remedy: +15 -> torch._dynamo.mark_dynamic(items, 0)   -> compiles 1
# remedy: 14 -> items = buffer[:count].clone()   -> compiles 2
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 3
