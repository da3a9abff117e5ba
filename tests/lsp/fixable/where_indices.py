import torch


@torch.compile(backend="eager")
def found(x):
    rows = torch.where(x > 1)[0]
    return x[rows] * 2


print(found(torch.arange(4.0)))
