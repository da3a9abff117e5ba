import torch


@torch.compile(backend="eager")
def count_up(counter, y):
    counter.add_(1)
    return y * counter.item()


print(count_up(torch.tensor(2.0), torch.ones(2)))
