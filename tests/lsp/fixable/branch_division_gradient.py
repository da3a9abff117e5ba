import torch


@torch.compile(backend="eager")
def unit(x):
    n = x.norm()
    if n > 0:
        x = x / n
    return x * 1.0


for value in (0.0, 2.0):
    x = torch.full((2,), value, requires_grad=True)
    unit(x).sum().backward()
    print(x.grad)
