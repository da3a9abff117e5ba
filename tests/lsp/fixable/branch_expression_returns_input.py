import torch


@torch.compile(backend="eager")
def keep(x):
    return x if x.mean() > 0 else x.neg()


x = torch.arange(3.0)
y = keep(x)
y += 1
print(x, y, keep(-x))
