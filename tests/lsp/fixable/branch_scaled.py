import torch


@torch.compile(backend="eager")
def scale(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y.cos()


print(scale(torch.ones(4)), scale(-torch.ones(4)))
