"""A context of a default device is on in one part of a program."""

import contextlib

import torch


@torch.compile
def rotate(points, angle):
    axes = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).view(2, 2)
    return points @ axes.t()


torch.manual_seed(0)
points, angle = torch.randn(4, 2), torch.tensor(0.3)
for step in range(4):
    context = torch.device("cpu") if step % 2 else contextlib.nullcontext()
    with context:
        points = rotate(points, angle)
    print(step, points.sum().item())

# function: rotate
# compiles: 2
# over: yes
# next: with torch.device("cpu"): rotate(points * 2, angle)
# remedy: 17 -> context = contextlib.nullcontext()   -> compiles 1
# remedy: 8 -> @torch.compile(dynamic=True)   -> compiles 2
