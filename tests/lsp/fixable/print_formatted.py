import torch


@torch.compile(backend="eager")
def show(x):
    y = x.sum()
    print(f"sum is {y}")
    return y * 2


print(show(torch.ones(2)))
