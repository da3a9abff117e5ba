import torch


@torch.compile(backend="eager")
def doubled(x):
    return x * 2


x = torch.ones(3, 4)
print(doubled(x).shape)
x = torch.ones(4, 3).t()
print(doubled(x).shape)
