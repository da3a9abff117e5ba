import torch


@torch.compile(backend="eager")
def f(x):
    return x * 3


data = torch.ones(10)
for n in (2, 5, 7):
    y = f(data[:n])
print(y)
