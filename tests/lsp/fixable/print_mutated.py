import torch


@torch.compile(backend="eager")
def show(x):
    y = x + 1
    print(y)
    y.mul_(3)
    return y


print(show(torch.ones(2)))
