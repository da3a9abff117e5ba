import torch


@torch.compile(backend="eager")
def checked(x):
    assert x.min() >= 0, "negative"
    return x.sqrt()


print(checked(torch.ones(3)))
