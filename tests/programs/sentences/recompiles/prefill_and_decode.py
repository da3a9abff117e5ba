"""A prompt is prefilled with a causal mask; tokens that follow are decoded one by one."""

import torch
from torch.nn import functional as F


@torch.compile
def attend(query, keys, values, scale):
    causal = query.shape[2] > 1
    return F.scaled_dot_product_attention(query, keys, values, is_causal=causal, scale=scale)


torch.manual_seed(0)
keys = values = torch.randn(1, 2, 5, 4)
for new in (5, 1, 1, 1, 1):
    query = torch.randn(1, 2, new, 4)
    if new == 1:
        token = torch.randn(1, 2, 1, 4)
        keys, values = torch.cat([keys, token], dim=2), torch.cat([values, token], dim=2)
    print(keys.shape[2], attend(query, keys, values, 0.5).sum().item())

# function: attend
# compiles: 3
# over: yes
# next: attend(query, torch.randn(1, 2, 14, 4), torch.randn(1, 2, 14, 4), 0.5)
# remedy: +20 -> torch._dynamo.mark_dynamic(keys, 2), torch._dynamo.mark_dynamic(values, 2)   -> compiles 2
# remedy: 7 -> @torch.compile(dynamic=True)   -> compiles 2
# remedy: +20 -> torch._dynamo.maybe_mark_dynamic(query, 2)   -> compiles 3
