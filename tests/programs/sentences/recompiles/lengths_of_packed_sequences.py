"""Packed sequences are split by a list of their lengths, and pooled."""

import torch


@torch.compile
def pool_packed(packed, lengths, weight):
    pooled = [part.mean(dim=0) for part in packed.split(lengths)]
    return torch.stack(pooled) @ weight


torch.manual_seed(0)
weight = torch.randn(3, 2)
for lengths in ([2, 3], [4, 3], [5, 2], [3, 6]):
    packed = torch.randn(sum(lengths), 3)
    print(lengths, pool_packed(packed, lengths, weight).sum().item())

# function: pool_packed
# compiles: 3
# over: yes
# next: pool_packed(torch.randn(9, 3), [7, 2], weight)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +16 -> torch._dynamo.maybe_mark_dynamic(packed, 0)   -> compiles 3
# remedy: +6 -> torch._dynamo.config.recompile_limit = 64   -> compiles 3
