import torch


@torch.compile(backend="eager", dynamic=False)
def f(x):
    return x * 2


for n in (2, 3, 4):
    x = torch.ones(n)
    y = f(x)
print(y)
