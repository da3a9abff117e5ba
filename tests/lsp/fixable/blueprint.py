import torch


@torch.compile(backend="eager")
def draw(x):
    fingerprint = x.argmax().item()
    return x + fingerprint


print(draw(torch.ones(3)))
