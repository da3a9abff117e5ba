"""A service computes in the precision that a request asks for."""

import torch


@torch.compile
def normalize(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


torch.manual_seed(0)
x, weight = torch.randn(3, 4), torch.rand(4)
for dtype in (torch.float32, torch.float64, torch.bfloat16):
    out = normalize(x.to(dtype), weight, 1e-6)
    print(dtype, out.dtype, round(out.float().sum().item(), 3))

# function: normalize
# compiles: 3
# over: no
# next: normalize(x.half(), weight, 1e-6)
# best: none
