import torch


@torch.compile(backend="eager")
def picked(x):
    index = torch.nonzero(x)
    return index.sum(), x + 1


print(picked(torch.tensor([0.0, 2.0, 3.0])))
