import torch


@torch.compile(backend="eager")
def keep(x):
    clipped = (x > 2).any().item()
    return x * (1 - clipped)


print(keep(torch.arange(3.0)))
print(keep(torch.arange(5.0)))
print(keep(torch.arange(3.0)))
