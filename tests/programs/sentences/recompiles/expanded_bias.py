"""A bias is sometimes one row that is expanded, and sometimes a full matrix."""

import torch


@torch.compile
def add_bias(scores, bias, mask):
    return torch.softmax((scores + bias).masked_fill(mask, -1e4), dim=-1)


torch.manual_seed(0)
scores, mask = torch.randn(3, 4), torch.rand(3, 4) > 0.7
full, row = torch.randn(3, 4), torch.randn(1, 4)
for kind in ("full", "row", "full", "row"):
    bias = full if kind == "full" else row.expand(3, 4)
    print(kind, add_bias(scores, bias, mask)[:, 0].sum().item())

# function: add_bias
# compiles: 2
# over: yes
# next: add_bias(scores, torch.randn(1, 4).expand(3, 4), mask)
# remedy: 15 -> bias = full if kind == "full" else row.repeat(3, 1)   -> compiles 1
# remedy: 16 -> print(kind, add_bias(scores, bias.contiguous(), mask)[:, 0].sum().item())   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
