import torch


@torch.compile(backend="eager")
def f(x):
    return x.sum(1) * 2


for n in (2, 3, 4, 5):
    batch = torch.ones(n, 4)
    out = f(batch)
print(out)
