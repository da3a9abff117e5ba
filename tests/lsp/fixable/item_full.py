import torch


@torch.compile(backend="eager")
def spread(x):
    return torch.full((3,), x.sum().item()) + x


print(spread(torch.ones(3)))
