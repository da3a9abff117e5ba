import torch


@torch.compile(backend="eager")
def show(x):
    y = x.sum()
    print("sum", y)
    return y * 2


print(show(torch.ones(2)))
