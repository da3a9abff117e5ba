import torch


@torch.compile(backend="eager")
def shift(counter, y):
    before = counter.item()
    counter.add_(1)
    return y * before


print(shift(torch.tensor(2.0), torch.ones(2)))
