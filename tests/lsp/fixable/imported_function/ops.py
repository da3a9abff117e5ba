import torch


@torch.compile(backend="eager")
def smooth(x):
    return x * 0.9 + x.mean() * 0.1
