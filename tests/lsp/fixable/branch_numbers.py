import torch


@torch.compile(backend="eager")
def direction(x):
    if x.sum() > 0:
        step = 1
    else:
        step = -1
    return x * step, step


print(direction(torch.ones(2)), direction(-torch.ones(2)))
