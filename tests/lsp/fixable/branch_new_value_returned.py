import torch


@torch.compile(backend="eager")
def step(x):
    y = x + 1
    if y.sum() > 5:
        y = y * 0.5
    return y


for value in (0.0, 9.0):
    x = torch.full((2,), value)
    y = step(x)
    y += x
    print(x, y)
