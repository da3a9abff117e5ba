import torch


@torch.compile(backend="eager")
def f(x):
    return x * 2


for kind in (torch.float32, torch.float64, torch.int64):
    x = torch.ones(3, dtype=kind)
    y = f(x)
print(y)
