import torch


@torch.compile(backend="eager")
def reduced(x):
    if x.max() > 3:
        x = x.sum()
    else:
        x = x * 2
    return x


print(reduced(torch.full((3,), 4.0)).shape, reduced(torch.ones(3)).shape)
