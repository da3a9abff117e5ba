import torch


@torch.compile(backend="eager")
def shrink(x):
    while x.norm() > 1:
        x = x / 2
    return x


print(shrink(torch.full((4,), 8.0)))
