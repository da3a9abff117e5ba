import torch


@torch.compile(backend="eager")
def show(x):
    print(x.shape, len(x), x.dtype)
    return x * 2


print(show(torch.ones(2)), show(torch.ones(3)))
