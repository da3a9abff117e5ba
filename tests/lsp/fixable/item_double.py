import torch


@torch.compile(backend="eager")
def widen(x, w):
    return x * w.sum().item()


print(widen(torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.float64)).dtype)
