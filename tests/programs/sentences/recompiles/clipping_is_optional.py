"""Gradients are clipped at a value, at another, or not at all."""

import torch


@torch.compile
def clipped(gradients, limit=None):
    if limit is not None:
        norm = torch.stack([each.norm() for each in gradients]).norm()
        gradients = [each * torch.clamp(limit / norm, max=1.0) for each in gradients]
    return [each * 0.1 for each in gradients]


torch.manual_seed(0)
gradients = [torch.randn(3), torch.randn(2, 2)]
for limit in (None, 1.0, 0.5, None, 2.0):
    print(limit, sum(each.sum() for each in clipped(gradients, limit)).item())

# function: clipped
# compiles: 3
# over: yes
# next: clipped(gradients, 0.75)
# remedy: 17 -> print(limit, sum(each.sum() for each in clipped(gradients, torch.tensor(limit or float("inf")))).item())   -> compiles 1
# remedy: 17 -> print(limit, sum(each.sum() for each in clipped(gradients, limit or 1e9)).item())   -> compiles 2
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
# remedy: +6 -> torch._dynamo.config.recompile_limit = 64   -> compiles 3
