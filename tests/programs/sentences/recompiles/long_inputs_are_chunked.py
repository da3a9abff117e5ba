"""A long input is processed in two halves, a short one at once."""

import torch


def encode(x, weight):
    return torch.relu(x @ weight).amax(dim=0)


@torch.compile
def summarize(x, weight):
    if x.shape[0] > 16:
        middle = x.shape[0] // 2
        return torch.maximum(encode(x[:middle], weight), encode(x[middle:], weight))
    return encode(x, weight)


torch.manual_seed(0)
weight = torch.randn(3, 4)
for length in (5, 9, 20, 31, 12):
    document = torch.randn(length, 3)
    print(length, summarize(document, weight).sum().item())

# function: summarize
# compiles: 3
# over: yes
# next: summarize(torch.randn(24, 3), weight)
# remedy: +22 -> torch._dynamo.mark_dynamic(document, 0)   -> compiles 2
# remedy: 10 -> @torch.compile(dynamic=True)   -> compiles 2
# remedy: +10 -> torch._dynamo.config.recompile_limit = 64   -> compiles 3
