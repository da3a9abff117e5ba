import torch


@torch.compile(backend="eager")
def rooted(x):
    if x.min() < 0:
        raise ValueError("negative")
    return x.sqrt()


print(rooted(torch.ones(3)))
