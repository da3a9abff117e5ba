"""Attention over a prompt first, then with fewer queries than keys."""

import torch


@torch.compile
def attention(query, key, value, scale):
    weights = torch.softmax(query @ key.transpose(-1, -2) * scale, dim=-1)
    return weights @ value


torch.manual_seed(0)
for queries, keys in [(6, 6), (8, 8), (5, 9), (3, 7)]:
    query = torch.randn(2, queries, 4)
    key, value = torch.randn(2, 2, keys, 4)
    out = attention(query, key, value, 0.5)
    print(queries, keys, out.sum().item())

# function: attention
# compiles: 2
# over: yes
# next: attention(torch.randn(2, 4, 4), *torch.randn(2, 2, 11, 4), 0.5)
# remedy: +16 -> torch._dynamo.mark_dynamic(query, 1), torch._dynamo.mark_dynamic(key, 1), torch._dynamo.mark_dynamic(value, 1)   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True) && +6 -> torch.fx.experimental._config.use_duck_shape = False   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
# remedy: +6 -> torch.fx.experimental._config.use_duck_shape = False   -> compiles 2
