import torch


@torch.compile(backend="eager")
def classes(labels):
    return torch.unique(labels).float().mean()


print(classes(torch.tensor([1, 1, 2])))
