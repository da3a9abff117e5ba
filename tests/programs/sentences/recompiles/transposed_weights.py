"""A layer is used with its weight and with the transposed one."""

import torch


@torch.compile
def project(x, weight, scale):
    return (x @ weight * scale).sum(dim=-1)


torch.manual_seed(0)
x, weight = torch.randn(4, 4), torch.randn(4, 4)
for direction in ("down", "up", "down", "up"):
    matrix = weight if direction == "down" else weight.t()
    print(direction, project(x, matrix, 0.5).sum().item())

# function: project
# compiles: 2
# over: yes
# next: project(x, torch.randn(4, 4).t(), 0.5)
# remedy: 14 -> matrix = weight if direction == "down" else weight.t().contiguous()   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
# remedy: +14 -> torch._dynamo.maybe_mark_dynamic(weight, 0)   -> compiles 2
