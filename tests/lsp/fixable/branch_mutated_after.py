import torch


@torch.compile(backend="eager")
def bump(x):
    y = x if x.sum() > 0 else x * 2
    y.add_(1)
    return y


a, b = torch.ones(2), -torch.ones(2)
print(bump(a), a, bump(b), b)
