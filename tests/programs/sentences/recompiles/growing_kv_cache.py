"""A decoder appends keys and values to its cache for every token."""

import torch


@torch.compile
def attend(query, cache, key, value):
    keys = torch.cat([cache["k"], key], dim=1)
    values = torch.cat([cache["v"], value], dim=1)
    scores = torch.softmax(query @ keys.transpose(1, 2) / 2.0, dim=-1)
    return scores @ values, {"k": keys, "v": values}


torch.manual_seed(0)
cache = {"k": torch.zeros(1, 0, 4), "v": torch.zeros(1, 0, 4)}
for position in range(6):
    query, key, value = torch.randn(3, 1, 1, 4)
    out, cache = attend(query, cache, key, value)
    print(position, out.sum().item())

# function: attend
# compiles: 3
# over: yes
# next: attend(query, cache, key, value)
# remedy: +18 -> torch._dynamo.decorators.mark_unbacked(cache["k"], 1), torch._dynamo.decorators.mark_unbacked(cache["v"], 1)   -> compiles 2
# remedy: +18 -> torch._dynamo.maybe_mark_dynamic(cache["k"], 1), torch._dynamo.maybe_mark_dynamic(cache["v"], 1)   -> compiles 3
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 3
# remedy: +6 -> torch._dynamo.config.recompile_limit = 16   -> compiles 3
