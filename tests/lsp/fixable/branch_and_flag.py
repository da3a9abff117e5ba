import torch


@torch.compile(backend="eager")
def warm(x, training):
    if training and x.abs().max() > 2:
        x = x * 0.1
    return x + 1


print(warm(torch.full((2,), 5.0), True), warm(torch.full((2,), 5.0), False), warm(torch.ones(2), True))
