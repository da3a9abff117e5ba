import torch


@torch.compile(backend="eager")
def maybe(x, use):
    y = x + 1
    if use:
        y = y * x.item()
    return y


print(maybe(torch.full((1,), 2.0), True), maybe(torch.ones(3), False))
