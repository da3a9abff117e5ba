import torch

RATES = [2.0, 0.25]


@torch.compile(backend="eager")
def rated(x, stage):
    y = x.abs()
    if y.sum() > 1:
        y = y * RATES[stage]
    else:
        y = y + 2
    return y


print(rated(torch.ones(3), 0), rated(torch.ones(3), 1), rated(torch.zeros(3), 2))
