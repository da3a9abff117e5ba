"""A part of a pipeline runs in double precision by default."""

import torch


@torch.compile
def grid(points, size):
    axis = torch.arange(size) / size
    return points.round() + axis


torch.manual_seed(0)
points = torch.randn(4, dtype=torch.float64)
for dtype in (torch.float32, torch.float64, torch.float32):
    torch.set_default_dtype(dtype)
    print(dtype, grid(points, 4).sum().item())
torch.set_default_dtype(torch.float32)

# function: grid
# compiles: 2
# over: no
# next: torch.set_default_dtype(torch.bfloat16), grid(points, 4)
# remedy: 8 -> axis = torch.arange(size, dtype=torch.float64) / size && 15 -> pass   -> compiles 1
# remedy: 8 -> axis = torch.arange(size, dtype=torch.float64) / size   -> compiles 2
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
