import torch


@torch.compile(backend="eager")
def guard(x):
    y = x + 1
    if y.min() < 0:
        return torch.zeros_like(y)
    return y.sqrt()


print(guard(torch.ones(2)), guard(torch.full((2,), -4.0)))
