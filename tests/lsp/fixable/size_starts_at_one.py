import torch


@torch.compile(backend="eager")
def f(x):
    return x + 1


for n in (1, 2, 3):
    x = torch.ones(n, 2)
    y = f(x)
print(y)
