import torch


@torch.compile(backend="eager")
def quantise(x, level):
    m = x.abs().max()
    if m < 0.5:  # breaks
        y = x * 4
    elif m < 1.0:  # breaks
        y = x * 2
    else:
        y = x / m
    return (y * level).round() / level


for v in (0.25, 0.75, 3.0):
    print(quantise(torch.tensor([v, -v / 2]), 8).tolist())
