import torch


@torch.compile(backend="eager")
def any_kept(x, mask):
    kept = x[mask]
    if len(kept) > 0:
        return kept.sum()
    return x.sum()


print(any_kept(torch.arange(4.0), torch.tensor([True, False, True, False])))
