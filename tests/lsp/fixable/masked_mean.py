import torch


@torch.compile(backend="eager")
def mean_of(x, mask):
    kept = x[mask]
    return kept.mean() * 2


print(mean_of(torch.arange(4.0), torch.tensor([True, False, True, False])))
