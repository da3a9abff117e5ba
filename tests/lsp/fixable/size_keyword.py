import torch


@torch.compile(backend="eager")
def f(x, *, mask):
    return (x * mask).sum()


for n in (3, 4, 5):
    x, m = torch.ones(n), torch.ones(n)
    y = f(x, mask=m)
print(y)
