import torch


@torch.compile(backend="eager")
def inside(x):
    if 0 < x.mean() < 1:
        x = x * 10
    return x - 1


print(inside(torch.full((2,), 0.5)), inside(torch.full((2,), 2.0)))
