import torch


@torch.compile(backend="eager")
def f(x, y):
    h = x.t()
    if y.sum() > 0:
        z = h * 2
    else:
        z = y * 2
    return z.reshape(-1)


x = torch.arange(16.0).view(4, 4)
print(f(x, x), f(x, -x))
